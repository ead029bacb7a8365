import type { Migration } from './migrations.ts'

/** The variants of an answer are found without reading its conversation. Most messages are none, and cost nothing. */
export const variantsOfAnswers: Migration = {
  name: '0099-variants-of-answers',
  statements: () => ['CREATE INDEX variants_of_answer ON messages (variant_of) WHERE variant_of IS NOT NULL'],
}
