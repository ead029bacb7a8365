import { expect, it, onTestFinished } from 'vitest'
import type { AssistantRequest } from '../../../lib/assistant/provider.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { startModelServer } from '../../support/model-server.ts'
import { codeOf } from '../../support/service.ts'
import { bytesFor, bytesOf, memoryFiles, PNG, startWithFiles, upload } from './files.ts'

describeOnEachDatabase('the assistant', (openUrl) => {
  it('gets the names of the files of a thread', async () => {
    let turns: unknown
    const service = await startWithFiles(await openUrl(), {
      ports: {
        async *assistant(request) {
          turns = request.turns
          yield 'I see'
        },
      },
    })
    const ada = await service.signIn('ada')
    const { conversation_id } = await ada.conversations.create()
    const id = await upload(ada, await bytesFor(service, ada), conversation_id, { name: 'plan.png', content: PNG })
    const { message_id } = await ada.messages.postRoot(conversation_id, { content: '', attachment_ids: [id] })
    await ada.messages.reply(message_id, { content: 'What is it?', role: 'assistant' })
    await service.idle()
    expect(turns).toEqual([
      {
        role: 'user',
        content: '',
        user_id: ada.id,
        attachments: [{ id, name: 'plan.png', type: 'image/png', size: PNG.length }],
      },
      { role: 'user', content: 'What is it?', user_id: ada.id },
    ])
    await service.close()
  })

  it('reads the files of the thread with the rights of the user who asked, and no others', async () => {
    const reads: Record<string, unknown> = {}
    let ask: ((request: AssistantRequest) => Promise<void>) | undefined
    const service = await startWithFiles(await openUrl(), {
      ports: {
        async *assistant(request) {
          await ask!(request)
          yield 'I see'
        },
      },
    })
    onTestFinished(() => service.close())
    const [ada, grace] = [await service.signIn('ada'), await service.signIn('grace')]
    const bytes = await bytesFor(service, ada)
    const { conversation_id } = await ada.conversations.create({ title: 'Files' })
    await ada.participants.add(conversation_id, { user_id: grace.id })
    const [shown, deleted, elsewhere] = [
      await upload(ada, bytes, conversation_id, { content: PNG }),
      await upload(ada, bytes, conversation_id, { content: bytesOf(10, 'deleted') }),
      await upload(ada, bytes, conversation_id, { content: bytesOf(10, 'elsewhere') }),
    ]
    await ada.messages.postRoot(conversation_id, { content: '', attachment_ids: [elsewhere] })
    const root = await ada.messages.postRoot(conversation_id, { content: '', attachment_ids: [shown] })
    const below = await ada.messages.reply(root.message_id, { content: '', attachment_ids: [deleted] })
    ask = async ({ turns, open }) => {
      const read = async (id: string) => {
        const pieces: Uint8Array[] = []
        for await (const piece of open(id)) pieces.push(piece)
        return Buffer.concat(pieces).equals(PNG)
      }
      reads.ids = turns.flatMap(({ attachments = [] }) => attachments.map(({ id }) => id))
      reads.shown = await read(shown)
      await ada.messages.remove(below.message_id)
      reads.deleted = await codeOf(read(deleted))
      reads.elsewhere = await codeOf(read(elsewhere))
      await ada.participants.remove(conversation_id, grace.id)
      reads.left = await codeOf(read(shown))
    }
    await grace.messages.reply(below.message_id, { content: 'What is it?', role: 'assistant' })
    await Promise.all(service.nodes.map((node) => node.idle()))
    expect(reads).toEqual({
      ids: [shown, deleted],
      shown: true,
      deleted: 'not_found',
      elsewhere: 'not_found',
      left: 'not_found',
    })
  })

  it('of openai gets the newest pictures, within a number and a size, and fails if they cannot be read', async () => {
    const model = await startModelServer()
    const files = memoryFiles()
    const assistant = { provider: 'openai', base_url: model.url, model: 'tiny', images: true }
    const service = await startWithFiles(await openUrl(), {
      config: { assistant },
      wrap: (storage) => ({ ...storage, files }),
    })
    onTestFinished(() => service.close())
    const ada = await service.signIn('ada')
    const bytes = await bytesFor(service, ada)
    const { conversation_id } = await ada.conversations.create({ title: 'Files' })
    const picture = (n: number, size = 0) => Buffer.concat([PNG, Buffer.from([n]), Buffer.alloc(size)])
    const add = (content: Buffer, name = 'a.png') =>
      upload(ada, bytes, conversation_id, { content, name, type: 'image/png' })
    const first = await Promise.all([1, 2, 3].map((n) => add(picture(n))))
    const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'Look', attachment_ids: first })
    const second = await Promise.all([4, 5, 6, 7, 8, 9].map((n) => add(picture(n))))
    const others = [await add(Buffer.from('<svg/>'), 'fake.png'), await add(picture(10, 9 * 1024 * 1024), 'large.png')]
    const below = await ada.messages.reply(message_id, { content: '', attachment_ids: [...others, ...second] })
    const ask = () => ada.messages.reply(below.message_id, { content: 'What is it?', role: 'assistant' })
    await ask()
    const contents = (await model.nextCall()).request.messages.map(({ content }) => content) as unknown[]
    const url = (n: number) => ({
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${picture(n).toString('base64')}` },
    })
    expect(contents[0]).toEqual([
      { type: 'text', text: expect.stringMatching(/^Look\n\[File: a\.png/) },
      url(1),
      url(2),
    ])
    expect(contents[1]).toEqual([
      { type: 'text', text: expect.stringContaining('large.png') },
      ...[4, 5, 6, 7, 8, 9].map(url),
    ])
    expect(contents[2]).toBe('What is it?')

    await service.idle()
    files.getItemRaw = () => Promise.reject(new Error('unplugged'))
    const failed = await ask()
    await service.idle()
    expect((await ada.messages.get(failed.message_id)).status).toBe('failed')
    expect(model.calls).toHaveLength(1)
  })
})
