import { expect, it, vi } from 'vitest'
import type { AssistantRequest } from '../../../lib/assistant/provider.ts'
import { defineTool, OPERATOR } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { recorded } from '../../support/recorded.ts'
import { innerState, startThread, type TestService } from '../../support/service.ts'
import { ANY, ask, call, type ScriptedOptions, useServices } from './world.ts'

const STEPS = 3

/** The model calls the tool in each step but the last. */
const script: ScriptedOptions['script'] = ({ step }) => (step < STEPS ? ['Well.', call('work', { step })] : ['Done.'])

const textsOf = ({ turns }: AssistantRequest) => turns.map(({ content }) => content)

const NAMED = { assistant: { names: 'always' } }

/** Whether the messages of each erased user have been processed. */
async function isErased(service: TestService): Promise<boolean> {
  return (await innerState(service).db.get(sql`SELECT 1 AS found FROM erased_authors`)) === undefined
}

describeOnEachDatabase('what precedes an answer with several steps', (openUrl) => {
  const { start } = useServices(openUrl)

  /** Ada asks; the tool does `work` in the first step. */
  async function answerWhile(
    work: (world: World) => Promise<unknown>,
    { before, ...options }: Partial<ScriptedOptions> & { before?: (world: World) => Promise<unknown> } = {},
  ) {
    let run = async () => {}
    const tool = defineTool({
      description: 'Works',
      input: ANY,
      run: async ({ step }) => (step === 1 ? run() : undefined),
    })
    const { service, requests } = await start({
      ...{ tools: { work: tool }, script, assistant: { names: 'never' } },
      ...options,
    })
    const thread = await startThread(service)
    const { message_id } = await thread.grace.messages.postRoot(thread.conversation_id, { content: 'from Grace' })
    const world = { ...thread, service, message_id }
    run = async () => void (await work(world))
    await before?.(world)
    const answer = await ask(thread)
    expect((await answer.untilEnded()).status).toBe('complete')
    expect(requests.map(({ step }) => step)).toEqual([1, 2, 3])
    return { requests, ...world }
  }
  type World = Awaited<ReturnType<typeof startThread>> & {
    service: Awaited<ReturnType<typeof start>>['service']
    message_id: string
  }

  it.each([
    ['no names', { names: 'never' }, ['first', 'from Grace', 'Why?']],
    ['names', { names: 'always' }, ['ada: first', 'grace: from Grace', 'ada: Why?']],
  ])('is read once with %s while nothing else changes the conversation', async (_, assistant, texts) => {
    let reads = 0
    const wrap = recorded(({ text }) => {
      if (text.includes('assistant_prompt, layout')) reads++
    })
    const { requests } = await answerWhile(async () => {}, { wrap, assistant })
    expect(requests.map(textsOf)).toEqual(Array.from({ length: STEPS }, () => texts))
    expect(reads).toBe(1)
  })

  it.each<[string, (world: World) => Promise<unknown>, string[]]>([
    [
      'a message before it is edited',
      ({ grace, message_id }) => grace.messages.edit(message_id, { content: 'edited' }),
      ['first', 'edited', 'Why?'],
    ],
    ['a message before it is deleted', ({ ada, message_id }) => ada.messages.remove(message_id), ['first', 'Why?']],
    [
      'the conversation gets a prompt',
      ({ ada, conversation_id }) => ada.conversations.rename(conversation_id, { assistant: { prompt: 'Be brief.' } }),
      ['Be brief.', 'first', 'from Grace', 'Why?'],
    ],
    [
      'a user who has written before it is erased',
      ({ service, grace }) => service.chat.users.erase(OPERATOR, grace.id, { messages: 'erase' }),
      ['first', 'Why?'],
    ],
  ])('is read again when %s', async (_, work, after) => {
    const { requests } = await answerWhile(work)
    expect(requests.map(textsOf)).toEqual([['first', 'from Grace', 'Why?'], after, after])
  })

  it('has no author that is erased, also of messages that stay and are of a user who had left', async () => {
    const leave = ({ ada, grace, conversation_id }: World) => ada.participants.remove(conversation_id, grace.id)
    const erase = async ({ service, grace }: World) => {
      await service.chat.users.erase(OPERATOR, grace.id, { messages: 'keep' })
      await vi.waitUntil(() => isErased(service), { timeout: 30_000 })
    }
    const { requests, ada, grace } = await answerWhile(erase, { ...NAMED, before: leave })
    const authors = requests.map(({ turns }) => turns.map(({ user_id, name }) => [user_id, name]))
    const asAda = [ada.id, 'ada']
    const after = [asAda, [undefined, undefined], asAda]
    expect(authors).toEqual([[asAda, [grace.id, 'grace'], asAda], after, after])
    expect(textsOf(requests[2]!)).toEqual(['ada: first', 'from Grace', 'ada: Why?'])
  })

  it('has the new name of a user who is renamed', async () => {
    const rename = ({ service, grace }: World) =>
      service.chat.users.change(OPERATOR, grace.id, { display_name: 'Grace Hopper' })
    const { requests } = await answerWhile(rename, NAMED)
    const textsWith = (name: string) => ['ada: first', `${name}: from Grace`, 'ada: Why?']
    expect(requests.map(textsOf)).toEqual([textsWith('grace'), textsWith('Grace Hopper'), textsWith('Grace Hopper')])
  })

  it('is read again when another process changes the conversation', async () => {
    const { requests } = await answerWhile(async ({ grace, message_id }) => {
      const { chat } = (await start({ tools: {}, script })).service
      await chat.messages.edit(await chat.users.actor(grace.id), message_id, { content: 'edited' })
    })
    expect(requests.map(textsOf)[1]).toEqual(['first', 'edited', 'Why?'])
  })

  it('is what the database has, whatever a provider does to what it gets', async () => {
    const { requests } = await answerWhile(async () => {}, {
      script: (request) => {
        const pieces = script(request)
        request.turns[0]!.content = 'mine'
        request.turns.length = 1
        return pieces
      },
    })
    expect(requests.map(textsOf)[2]).toEqual(['first', 'from Grace', 'Why?'])
  })
})
