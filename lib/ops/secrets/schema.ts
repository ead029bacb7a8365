import * as v from 'valibot'
import { Instant } from '../../core/schema.ts'

/** What is encrypted in the database, and with which keys. */
export const SecretState = v.object({
  values: v.pipe(v.number(), v.integer(), v.description('What is encrypted')),
  old: v.pipe(v.number(), v.integer(), v.description('Of these, what only a former key opens')),
  lost: v.pipe(v.number(), v.integer(), v.description('Of these, what no key opens')),
  in_database: v.pipe(v.boolean(), v.description('Whether the present key is in the database')),
  rotating: v.pipe(
    v.boolean(),
    v.description('Whether the running service encrypts anew, or waits to remove a former key'),
  ),
  waiting_until: v.optional(
    v.pipe(
      Instant,
      v.description(
        'With `rotating`, while the running service has another key than the caller: it waits for that key until then, and changes nothing',
      ),
    ),
  ),
})
export type SecretState = v.InferOutput<typeof SecretState>
