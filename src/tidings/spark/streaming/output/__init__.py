"""The notifications of a job, each exactly once.

notifications      reads them, batch by batch
sink               writes them, for Spark
notification_rows  notifications as columns
"""
