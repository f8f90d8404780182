"""What is measured with: knowledge bases of a chosen size, and the queries and updates asked of them."""
