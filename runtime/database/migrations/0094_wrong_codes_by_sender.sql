-- once: control
-- Wrong codes count for the sender: a key over the API, a session in the console, a member at sign-in.

COMMENT ON COLUMN control.wrong_codes.member_id IS
  'Whom the codes count for: the id of a member, of a key or of an authorization, or the digest of a session.';
