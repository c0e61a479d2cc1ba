"""Models: what they are asked and answer (`records`), any OpenAI-compatible endpoint (`openai`), a scripted one."""

from memory.agent.model.records import ApiMessage, Model, Reply, TextSink, TokenUsage, ToolCall

__all__ = ["ApiMessage", "Model", "Reply", "TextSink", "TokenUsage", "ToolCall"]
