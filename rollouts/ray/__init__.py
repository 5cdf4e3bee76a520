"""Episodes on Ray: workers that each hold many, and a policy that many share."""
