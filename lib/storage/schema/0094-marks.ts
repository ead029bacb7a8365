import type { Migration } from './migrations.ts'

/** Which posts of users contain generated text, and what readers think of answers. */
export const marks: Migration = {
  name: '0094-marks',
  statements: ({ key }) => [
    'ALTER TABLE messages ADD COLUMN generated INTEGER',
    `CREATE TABLE answer_feedback (
      id ${key} PRIMARY KEY,
      message_id ${key} NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
      user_id ${key} NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      rating TEXT NOT NULL,
      reason TEXT,
      at BIGINT NOT NULL)`,
    'CREATE UNIQUE INDEX feedback_by_user ON answer_feedback (user_id, message_id)',
    'CREATE INDEX feedback_of_answer ON answer_feedback (message_id)',
  ],
}
