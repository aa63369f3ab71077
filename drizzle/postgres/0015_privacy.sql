-- What becomes of a user's data where a privacy signal says no, and whose data an operator erases.
ALTER TABLE publishers ADD COLUMN privacy text COLLATE "C" NOT NULL DEFAULT 'strip';
CREATE INDEX clicks_by_uid ON clicks (uid) WHERE uid IS NOT NULL;
