-- each environment
-- Whether control.card_directory has the number: null until the directory was asked, false if an older card has it.
ALTER TABLE card_numbers ADD COLUMN listed boolean;
