import { afterEach, beforeEach, expect, it } from 'vitest'
import { createPuppet } from '../support/assistant.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { codeOf, type Person, startService, type TestService, times } from '../support/service.ts'

describeOnEachDatabase('answers in progress', (openUrl) => {
  let nodes: TestService[]
  let puppet: ReturnType<typeof createPuppet>
  beforeEach(async () => {
    const url = await openUrl()
    puppet = createPuppet()
    const config = { assistant: { max_running_per_user: 3, max_running: 5, drain_seconds: 0 } }
    const start = () => startService(url, { config, ports: { assistant: puppet.assistant } })
    nodes = [await start(), await start()]
  })
  afterEach(async () => {
    for (const node of nodes) await node.close()
  })

  /** Users with their own conversation, each on both nodes. */
  async function startAsking(...names: string[]) {
    return Promise.all(
      names.map(async (name) => {
        const person: Person = await nodes[0]!.signIn(name)
        const { conversation_id } = await person.conversations.create({})
        const { chat } = nodes[0]!
        const actor = await chat.users.actor(person.id)
        const ask = (n = 0, idempotency_key?: string) =>
          nodes[n % 2]!.chat.messages.postRoot(actor, conversation_id, {
            content: 'Why?',
            role: 'assistant',
            idempotency_key,
          })
        return { person, conversation_id, ask }
      }),
    )
  }

  const codesOf = (calls: Promise<unknown>[]) => Promise.all(calls.map((call) => codeOf(call).catch(() => 'asked')))
  const count = (codes: string[], code: string) => codes.filter((each) => each === code).length

  it('are limited per user, of fifty questions at once on two nodes', async () => {
    await nodes[0]!.signIn('root')
    const [ada] = await startAsking('ada')
    const codes = await codesOf(times(50, (n) => ada!.ask(n)))
    // On a busy machine some wait too long for a connection.
    expect([count(codes, 'asked'), count(codes, 'rate_limited') + count(codes, 'unavailable')]).toEqual([3, 47])
    expect(count(codes, 'rate_limited')).toBeGreaterThan(0)
  })

  it('are limited in all', async () => {
    await nodes[0]!.signIn('root')
    const people = await startAsking('ada', 'grace', 'linus')
    const codes = await codesOf(times(30, (n) => people[n % 3]!.ask(n)))
    expect(count(codes, 'asked')).toBe(5)
    expect(count(codes, 'rate_limited') + count(codes, 'unavailable')).toBe(25)
  })

  it('free their place however they end; a repeated post is not counted', async () => {
    await nodes[0]!.signIn('root')
    const [ada] = await startAsking('ada')
    const { person, conversation_id, ask } = ada!
    const first = await ask(0, 'once')
    const answers = [await puppet.asked()]
    for (let n = 0; n < 2; n++) {
      await ask()
      answers.push(await puppet.asked())
    }
    const refused = person.messages.postRoot(conversation_id, { content: 'Why?', role: 'assistant' })
    await expect(refused).rejects.toMatchObject({ code: 'rate_limited', retry_after_seconds: 2 })
    expect((await ask(1, 'once')).message_id).toBe(first.message_id)

    await person.answers.cancel(first.message_id)
    await ask()
    expect(await codeOf(ask())).toBe('rate_limited')
    answers[1]!.say('Because.')
    answers[1]!.end()
    answers[2]!.fail(new Error('no'))
    await expect.poll(() => codeOf(ask()).catch(() => 'asked')).toBe('asked')
    await expect.poll(() => codeOf(ask()).catch(() => 'asked')).toBe('asked')
    expect(await codeOf(ask())).toBe('rate_limited')
  })
})
