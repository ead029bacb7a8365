import type { Migration } from './migrations.ts'

/** The bytes of the chunks of a message that a program streams by calls, and the pace at which they arrive. */
export const streamedMessages: Migration = {
  name: '0090-streamed-messages',
  statements: () => [
    'ALTER TABLE answers_under_way ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0',
    'ALTER TABLE answers_under_way ADD COLUMN paced_to BIGINT NOT NULL DEFAULT 0',
  ],
}
