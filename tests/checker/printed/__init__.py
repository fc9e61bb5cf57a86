"""Almeida's algorithms in the form in which they are printed, with their slips corrected.

Our own cores have another form (runs, cumulative acks and permits), in which most slips of the printed
text cannot be made. These have one record, one ack and one permit for each message, and the indexes of
the paper: each slip is a small change of their text (`slips.py`).
"""
