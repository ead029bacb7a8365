import type { Migration } from './migrations.ts'

export const reactionsAndPins: Migration = {
  name: '0020-reactions-and-pins',
  statements: ({ key, lean }) => [
    // `emoji_key`: what two spellings of an emoji have in common; `emoji`: the spelling that came first. `at`: unique in
    // the conversation.
    `CREATE TABLE reactions (
      message_id ${key} NOT NULL REFERENCES messages ON DELETE CASCADE,
      emoji_key ${key} NOT NULL,
      user_id ${key} NOT NULL,
      emoji TEXT NOT NULL,
      at BIGINT NOT NULL,
      PRIMARY KEY (message_id, emoji_key, user_id))${lean}`,
    'CREATE INDEX reactions_in_order ON reactions (message_id, at)',
    'CREATE INDEX reactions_of_user ON reactions (user_id, message_id)',
    // The reactions of the message as its readers get them, as JSON: a tree is read without their rows.
    'ALTER TABLE messages ADD COLUMN reaction_list TEXT',
    // With a pin: when, and by which user unless that one is erased.
    'ALTER TABLE messages ADD COLUMN pinned_at BIGINT',
    `ALTER TABLE messages ADD COLUMN pinned_by ${key}`,
    'CREATE INDEX pinned_messages ON messages (conversation_id, pinned_at) WHERE pinned_at IS NOT NULL',
    'CREATE INDEX pins_of_user ON messages (pinned_by) WHERE pinned_by IS NOT NULL',
  ],
}
