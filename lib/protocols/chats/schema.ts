import * as v from 'valibot'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { opaque } from '../../core/schema.ts'

/** The name of a chat: that of its client, or the id of its first message. */
export const ChatName = v.pipe(
  opaque(MAX_LENGTH.chat_name),
  v.regex(/^[!-~]+$/, 'must be visible characters of ASCII'),
  v.check((name) => name !== '.' && name !== '..', 'must be neither . nor ..'),
  v.metadata({ minLength: 1, not: { type: 'string', enum: ['.', '..'] } }),
  v.description('The id of the chat: chosen by the client, or the id of its first message'),
)
