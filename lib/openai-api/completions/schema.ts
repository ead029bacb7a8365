import * as v from 'valibot'
import { Metadata } from '../../chat/conversations/schema-metadata.ts'
import { IdempotencyKey } from '../../core/schema.ts'
import { CompletionInput } from '../schema.ts'

/** What an assistant is asked with: as the echo takes it, with what the echo ignores. Without a model it is the default. */
export const AssistantCompletionInput = v.object({
  ...CompletionInput.entries,
  model: v.optional(v.nullable(CompletionInput.entries.model)),
  metadata: v.optional(Metadata),
  idempotency_key: v.optional(IdempotencyKey),
})
export type AssistantCompletionInput = v.InferOutput<typeof AssistantCompletionInput>
