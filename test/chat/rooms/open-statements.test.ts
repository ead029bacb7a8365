import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { recorded } from '../../support/recorded.ts'
import { type Person, startService, type TestService } from '../../support/service.ts'

/** The look-ups of what users see of a conversation in which they do not participate. */
const lookups: string[] = []

const recording = recorded(({ text }) => {
  if (/^SELECT c?\.?visibility|^SELECT id, visibility/.test(text)) lookups.push(text)
})

describeOnEachDatabase('the visibility of a conversation', (openUrl) => {
  let service: TestService
  let [ada, grace, eve]: Person[] = []
  let conversation_id: string
  let root_id: string
  beforeAll(async () => {
    service = await startService(await openUrl(), { wrap: recording })
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    eve = await service.signIn('eve')
    conversation_id = (await ada.conversations.create({ visibility: 'open', policy: { join: 'anyone' } }))
      .conversation_id
    root_id = (await ada.messages.postRoot(conversation_id, { content: 'root' })).message_id
    await grace.conversations.join(conversation_id)
  })
  afterAll(() => service.close())

  async function lookupsOf(person: Person): Promise<number> {
    lookups.length = 0
    await person.conversations.get(conversation_id)
    await person.messages.list(conversation_id)
    await person.threads.list(conversation_id)
    await person.threads.tree(root_id)
    await person.participants.list(conversation_id)
    const stream = person.events.follow(conversation_id)
    await stream.next()
    await stream.return(undefined)
    return lookups.length
  }

  it('is looked up for none of its participants, who also write as before', async () => {
    expect(await lookupsOf(grace!)).toBe(0)
    await grace!.messages.reply(root_id, { content: 'reply' })
    await grace!.reactions.add(root_id, '👍')
    await grace!.threads.markRead(root_id)
    expect(lookups).toEqual([])
  })

  it('is looked up once for each read of a user who has not joined, and again for a stream', async () => {
    expect(await lookupsOf(eve!)).toBe(7)
  })
})
