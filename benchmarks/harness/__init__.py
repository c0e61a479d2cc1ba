"""What the benchmark scripts share: workers that run one store each, the parts of the run, and its report."""
