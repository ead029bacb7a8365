import { beforeAll, beforeEach, expect, it } from 'vitest'
import { type Answer, ageLeases, createPuppet } from '../../support/assistant.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes } from '../../support/describe-service.ts'
import { innerState, PASSWORD, type Person, startService } from '../../support/service.ts'
import { openStream, signInByHand } from '../../support/stream.ts'

describeOnEachDatabase('notifications of answers', (openUrl) => {
  const [service, other] = setUpNodes(async () => {
    const url = await openUrl()
    return [
      await startService(url, {
        ports: {
          assistant: puppet.assistant,
          notify: ({ kind, excerpt = '' }, { username }) => void told.push(`${username}: ${kind} ${excerpt}`),
        },
      }),
      await startService(url),
    ]
  })
  let ada: Person
  let grace: Person
  let conversation_id: string
  const puppet = createPuppet()
  const told: string[] = []

  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
  })
  beforeEach(async () => {
    conversation_id = (await ada.conversations.create()).conversation_id
    await ada.participants.add(conversation_id, { user_id: grace.id })
    await service.idle()
    told.length = 0
  })

  /** A question of grace, and the answer in progress. */
  async function ask() {
    const posted = await grace.messages.postRoot(conversation_id, { content: 'Why?', role: 'assistant' })
    return { ...posted, answer: await puppet.asked() }
  }

  /** A question of grace with an answer that has ended. */
  async function askAndHear(end: (answer: Answer) => void) {
    const asked = await ask()
    end(asked.answer)
    await service.idle()
    return asked
  }

  /** A question of grace with an answer in progress, whose first text is stored. */
  async function askAndSee() {
    const asked = await ask()
    asked.answer.say('Because')
    const { chat } = service
    const actor = await chat.users.actor(grace.id)
    const chunks = () => chat.answers.listChunks(actor, asked.message_id, { from: 0, limit: 1 })
    await expect.poll(async () => (await chunks()).length).toBe(1)
    return asked
  }

  const because = (answer: Answer) => {
    answer.say('Because.')
    answer.end()
  }
  const inbox = async () =>
    (await grace.notifications.list({ conversation: conversation_id, unread: true })).notifications
  const kinds = async () => (await inbox()).map(({ kind }) => kind).filter((kind) => kind !== 'added')
  const mentions = async () => (await grace.conversations.get(conversation_id)).mentions

  it('tell the user who asked, once; reading the thread reads them', async () => {
    const { message_id, root_id } = await askAndHear(because)
    expect((await inbox())[0]).toEqual({
      ...{ id: expect.any(String), at: expect.any(String), kind: 'reply' },
      ...{ conversation_id, root_id, message_id, excerpt: 'Because.' },
    })
    expect(await mentions()).toBe(1)
    expect(told).toEqual(['grace: reply Because.'])
    await grace.threads.markRead(root_id)
    expect([await kinds(), await mentions()]).toEqual([[], 0])
  })

  it('tell others with the level all of the message, and the user who asked of the reply alone', async () => {
    await ada.conversations.setSettings(conversation_id, { level: 'all' })
    await grace.conversations.setSettings(conversation_id, { level: 'all' })
    await askAndHear(because)
    expect(told.sort()).toEqual(['ada: message Because.', 'grace: reply Because.'])
  })

  it('are made for answers that fail after some text, and for none without text', async () => {
    await askAndHear((answer) => answer.fail(new Error('no')))
    expect(await kinds()).toEqual([])
    await askAndHear((answer) => {
      answer.say('Perhaps')
      answer.fail(new Error('no'))
    })
    expect(await kinds()).toEqual(['reply'])
  })

  it('are not made for answers that the user cancels or deletes, but for those that another one cancels', async () => {
    const stop = async (by: (message_id: string) => Promise<unknown>) => {
      await by((await askAndSee()).message_id)
      await service.idle()
      return kinds()
    }
    expect(await stop((id) => grace.answers.cancel(id))).toEqual([])
    expect(await stop((id) => grace.messages.remove(id))).toEqual([])
    expect(await stop((id) => ada.answers.cancel(id))).toEqual(['reply'])
  })

  it('are not made for a user who has left, nor for the level none', async () => {
    await grace.conversations.setSettings(conversation_id, { level: 'none' })
    await askAndHear(because)
    expect(await kinds()).toEqual([])
    await grace.conversations.setSettings(conversation_id, { level: 'mentions' })
    const { answer } = await ask()
    await grace.participants.remove(conversation_id, grace.id)
    because(answer)
    await service.idle()
    await ada.participants.add(conversation_id, { user_id: grace.id })
    expect([await kinds(), await mentions()]).toEqual([[], 0])
  })

  it('are not made for a user with an open stream, at this process or another', async () => {
    for (const { base_url } of [service, other]) {
      const { cookie } = await signInByHand(base_url, grace.email, PASSWORD)
      const stream = await openStream(base_url, undefined, { cookie })
      await stream.until('notifications.count')
      await expect.poll(() => innerState(service).streams.presence.hasStream(grace.id)).toBe(true)
      await askAndHear(because)
      expect(await kinds()).toEqual([])
      await stream.close()
      await expect.poll(() => innerState(service).streams.presence.hasStream(grace.id)).toBe(false)
    }
    await askAndHear(because)
    expect(await kinds()).toEqual(['reply'])
  })

  it('go with the answer when it is deleted, and are back when it is restored', async () => {
    const { message_id } = await askAndHear(because)
    await ada.messages.remove(message_id)
    expect([await kinds(), await mentions()]).toEqual([[], 0])
    await ada.messages.restore(message_id)
    expect([await kinds(), await mentions()]).toEqual([['reply'], 1])
  })

  it('are made once for an answer whose process has died', async () => {
    const { answer } = await askAndSee()
    const { answers } = innerState(other)
    const recover = async () => {
      await ageLeases(service.chat, 11)
      await Promise.all([answers.renewLeases(), answers.renewLeases()])
      return kinds()
    }
    // Its process, which lives on, may renew the lease in between.
    await expect.poll(recover).toEqual(['reply'])
    answer.say(' of the air.')
    await answer.aborted
    await service.idle()
    expect([await kinds(), await mentions()]).toEqual([['reply'], 1])
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })
})
