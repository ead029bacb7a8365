import { route } from '../../endpoint.ts'
import { ChunkAnswer, EndedMessage } from './schema.ts'
import * as service from './service.ts'

export const addChunk = route({
  method: 'POST',
  path: '/api/messages/{message_id}/chunks',
  tag: 'Threads and messages',
  summary: 'Add a chunk to a message that you stream',
  description:
    'For the bot, or the system actor by a server key, that has posted the message with `stream`. A chunk is stored while the message is `streaming`; the answer has the status. The same chunk can be sent again; another content for a number, and a number after the next one, are `conflict`. Instead of `content` it may be a `part`: a `source`, a `file` that you have uploaded to the conversation, or `data`, as an answer has them. At most 20 chunks per second, `limits.message_bytes` of text, and 256 parts in all. A message without a call for 30 seconds is `interrupted`: an empty chunk prolongs that.',
  access: 'session',
  example: { idx: 1, content: ' and it runs.' },
  output: ChunkAnswer,
  run: service.addChunk,
})

export const end = route({
  method: 'POST',
  path: '/api/messages/{message_id}/end',
  tag: 'Threads and messages',
  summary: 'End a message that you stream',
  description:
    'Mentions, notifications and files come with the end. Without visible text, after `bots.stream_seconds`, and with `failed`, the message is `failed`. Returns the message after the call; an ended one does not change.',
  access: 'session',
  example: { finish_reason: 'stop' },
  body_optional: true,
  output: EndedMessage,
  run: service.end,
})
