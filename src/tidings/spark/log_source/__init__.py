"""Where commits come from, and the commit log as a data source of Spark."""
