"""What is known about questions: words, cues, keywords."""
