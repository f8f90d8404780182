"""The notifications of a job, each exactly once.

notifications      for whoever reads them: batches, and what each tells
sink               for Spark, which writes them
notification_rows  notifications as columns
"""
