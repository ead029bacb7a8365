import type { Migration } from './migrations.ts'

/**
 * Which assistant an answer is by, and which ones a question names, with commas between them; the assistant of a
 * conversation, and what it is told there. Older programs write none of them: their answers are those of the default.
 */
export const severalAssistants: Migration = {
  name: '0092-several-assistants',
  statements: () => [
    'ALTER TABLE messages ADD COLUMN assistant TEXT',
    'ALTER TABLE messages ADD COLUMN asked TEXT',
    'ALTER TABLE conversations ADD COLUMN assistant TEXT',
    'ALTER TABLE conversations ADD COLUMN assistant_prompt TEXT',
  ],
}
