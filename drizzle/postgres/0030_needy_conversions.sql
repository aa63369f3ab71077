CREATE INDEX conversions_needy ON conversions (stage, first_received_at, platform, txnid) WHERE stage <> 'settled' AND status <> 'cancelled' AND test = 0;
CREATE INDEX conversions_needy_held ON conversions (held_for, first_received_at, platform, txnid)
	WHERE stage = 'quarantined' AND status <> 'cancelled' AND test = 0;
