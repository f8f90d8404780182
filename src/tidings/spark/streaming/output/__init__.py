"""The notifications of a job, each exactly once.

notifications      reads notifications, batch by batch
sink               writes notifications; a data sink of Spark
notification_rows  notifications as columns
"""
