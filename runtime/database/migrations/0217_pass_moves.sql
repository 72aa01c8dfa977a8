-- each environment
-- The change of the pass counts that an event of a pass describes.

-- Template, state before and state after (passes/passes/moves.ts). Empty: the event changes no count. Null: a version that does not
-- describe changes wrote the event.
ALTER TABLE events ADD COLUMN pass_move text COLLATE "C";
