import { expect, it } from 'vitest'
import { createOpenAi } from '../../../lib/assistant/openai/provider.ts'
import { MAX_TEXT_BYTES, TEXTS } from '../../../lib/assistant/openai/texts.ts'
import type { AssistantRequest } from '../../../lib/assistant/provider.ts'
import { ChatError } from '../../../lib/core/errors.ts'
import { png } from '../../files/pictures/make.ts'
import { startModelServer } from '../../support/model-server.ts'
import { asking, collect } from '../turns.ts'

/** A request whose last turn has these files; `undefined` cannot be read. */
function withFiles(files: Record<string, Uint8Array | undefined>): AssistantRequest {
  const request = asking('Read this')
  request.turns[0]!.attachments = Object.entries(files).map(([id, bytes]) => {
    return { id, name: `${id}.txt`, type: 'text/plain', size: bytes?.length ?? 5 }
  })
  return {
    ...request,
    async *open(id) {
      const bytes = files[id]
      if (!bytes) throw new ChatError('not_found')
      yield bytes.subarray(0, 1)
      yield bytes.subarray(1)
    },
  }
}

async function sentOf(files: Record<string, Uint8Array | undefined>, text_files = true): Promise<string> {
  const model = await startModelServer()
  await collect(createOpenAi({ base_url: model.url, model: 'tiny', text_files })(withFiles(files)))
  return model.calls[0]!.request.messages[0]!.content
}

it('the texts of files are sent below their names', async () => {
  const bytes = Buffer.from('Grüße\n')
  expect(await sentOf({ a: bytes })).toBe('Read this\n[File: a.txt, text/plain, 8 bytes]\nGrüße\n')
  expect(await sentOf({ a: bytes }, false)).toBe('Read this\n[File: a.txt, text/plain, 8 bytes]')
})

it.each<[string, Uint8Array | undefined]>([
  ['what is no UTF-8', Uint8Array.of(0x41, 0xff)],
  ['what has NUL', Buffer.from('a\0b')],
  ['a picture', png(1, 1)],
  ['what is too large', Buffer.alloc(MAX_TEXT_BYTES + 1, 'x')],
  ['what cannot be read', undefined],
])('the name alone is sent of %s', async (_, bytes) => {
  expect((await sentOf({ a: bytes })).split('\n')).toHaveLength(2)
})

it('the newest texts are sent, up to a number and a size', async () => {
  const many = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`f${n}`, Buffer.from(`text ${n}`)]))
  expect((await sentOf(many)).match(/^text \d$/gm)).toHaveLength(TEXTS.most.files)
  const large = Buffer.alloc(MAX_TEXT_BYTES, 'x')
  const sent = await sentOf(Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`f${n}`, large])))
  expect(sent.match(/^x+$/gm)).toHaveLength(4)
})
