import type { NewPost } from './batch.ts'
import type { PostRootInput } from './schema.ts'
import type { Repeatable } from './store-idempotency.ts'

/** What identifies a post with a key: its input, whatever a hook makes of that. */
export function repeatableOf({
  actor,
  input,
  where,
  context,
  beside,
}: NewPost & { input: PostRootInput }): Repeatable | undefined {
  const { idempotency_key: key, role = 'user', content, metadata, mentions, attachment_ids, title } = input
  const { quote_id, variant_of, assistant, invocation_id, stream, generated } = input
  if (key === undefined) return undefined
  if (beside) return { user_id: actor.user_id, key, request: beside.identity }
  const more = [
    ...(metadata ? [JSON.stringify(metadata)] : []),
    ...(mentions ? [`mentions ${JSON.stringify(mentions)}`] : []),
    ...(attachment_ids?.length ? [`attachments ${attachment_ids.join()}`] : []),
    ...(quote_id === undefined ? [] : [`quote ${quote_id}`]),
    ...(title ? [`title ${title}`] : []),
    ...(variant_of === undefined ? [] : [`variant ${variant_of}`]),
    ...(assistant === undefined ? [] : [`assistant ${assistant}`]),
    ...(invocation_id === undefined ? [] : [`invocation ${invocation_id}`]),
    ...(stream ? ['stream'] : []),
    ...(generated ? ['generated'] : []),
    ...(context?.length ? [`context ${JSON.stringify(context)}`] : []),
  ]
  const request = [...Object.values<string>(where), role, content, ...more]
  return { user_id: actor.user_id, key, request }
}
