import * as v from 'valibot'
import { Metadata } from '../../chat/conversations/schema-metadata.ts'
import { IdempotencyKey } from '../../core/schema.ts'
import { CompletionInput } from '../schema.ts'

/** What an assistant is asked with: as the echo takes it, with what the echo ignores. */
export const AssistantCompletionInput = v.object({
  ...CompletionInput.entries,
  metadata: v.optional(Metadata),
  idempotency_key: v.optional(IdempotencyKey),
})
export type AssistantCompletionInput = v.InferOutput<typeof AssistantCompletionInput>
