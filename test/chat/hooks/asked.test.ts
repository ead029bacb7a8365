import { beforeAll, beforeEach, expect, it } from 'vitest'
import type { Assistant } from '../../../lib/assistant/provider.ts'
import type { MessageBefore, MessageVerdict } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, type Person, startService, startThread } from '../../support/service.ts'

const provider: Assistant = async function* () {
  yield 'Because.'
}

describeOnEachDatabase('the assistants that beforeMessage gets', (openUrl) => {
  const seen: MessageBefore[] = []
  let verdict: () => MessageVerdict = () => undefined
  const service = setUpService(async () =>
    startService(await openUrl(), {
      config: { assistant: { max_running_per_user: 10 } },
      ports: {
        assistant: provider,
        assistants: {
          helper: { provider },
          coder: { provider },
          painter: { provider },
          boss: { provider, who: ['admin'] },
        },
        hooks: {
          beforeMessage(message) {
            seen.push(message)
            return verdict()
          },
        },
      },
    }),
  )
  let ada: Person
  let grace: Person
  let conversation_id: string
  beforeAll(async () => {
    ;({ ada, grace, conversation_id } = await startThread(service))
  })
  beforeEach(async () => {
    verdict = () => undefined
    await service.idle()
    seen.length = 0
  })

  const post = (person: Person, input: object, parent?: string) => {
    const body = { content: 'Why?', ...input }
    return parent ? person.messages.reply(parent, body) : person.messages.postRoot(conversation_id, body)
  }
  /** The assistants of the calls of the hook so far. */
  const asked = () => seen.splice(0).map((message) => ('assistants' in message ? message.assistants : 'none'))

  it('are the one of a question: that it names, that of the answer above, of the conversation, or the default', async () => {
    const { message_id } = await post(ada, { role: 'assistant', assistant: 'helper' })
    const { conversation_id: talk } = await ada.conversations.create({ layout: 'assistant' })
    await service.idle()
    await post(grace, { role: 'assistant' }, message_id)
    await post(ada, { role: 'assistant' })
    await ada.messages.postRoot(talk, { content: 'One' })
    await ada.conversations.rename(talk, { assistant: { key: 'coder' } })
    await ada.messages.postRoot(talk, { content: 'Two' })
    await post(ada, { role: 'assistant', variant_of: message_id, content: 'Again' })
    expect(asked()).toEqual([['helper'], ['helper'], ['assistant'], ['assistant'], ['coder'], ['helper']])
  })

  it('are those that a message names, in its list or in its text; missing without any', async () => {
    await post(ada, { content: 'Why, @helper and @coder (and `@boss`)?' })
    await post(ada, { content: 'Why, @helper?', mentions: { assistants: ['painter', 'coder', 'painter'] } })
    await service.idle()
    await post(ada, { content: '@boss @painter @coder @helper' })
    await service.idle()
    const { message_id } = await post(ada, { content: 'Hello' })
    await ada.messages.edit(message_id, { content: 'Hello, @helper' })
    expect(asked()).toEqual([['helper', 'coder'], ['painter', 'coder'], ['boss', 'painter', 'coder'], 'none', 'none'])
  })

  it('are none that the author may not ask; a post that names such a one is refused without the hook', async () => {
    await post(grace, { content: '@boss why?' })
    expect(asked()).toEqual(['none'])
    expect(await codeOf(post(grace, { mentions: { assistants: ['boss'] } }))).toBe('forbidden')
    expect(await codeOf(post(grace, { role: 'assistant', assistant: 'boss' }))).toBe('forbidden')
    expect(await codeOf(post(grace, { role: 'assistant', assistant: 'nobody' }))).toBe('validation_failed')
    expect(asked()).toEqual([])
  })

  it('are those of the text that was posted; those of the text of the hook write the answers', async () => {
    verdict = () => ({ content: 'Why, @coder?' })
    const { answers } = await post(ada, { content: 'Why, @helper?' })
    expect([asked(), answers?.map(({ assistant }) => assistant)]).toEqual([[['helper']], ['coder']])
  })
})
