import { describe, expect, it } from 'vitest'
import { createPuppet } from '../support/assistant.ts'
import { hasBrowser } from '../support/browser.ts'
import { choose, openStage, write } from './people.ts'
import { openTalk } from './talk.ts'
import { POLL } from './threads.ts'

const BOX = '.conversation .composer textarea'

/** Counts the sounds that the page makes. */
const COUNT_SOUNDS = `(() => {
  localStorage.setItem('chat:sound', 'on')
  window.sounds = 0
  const { start } = OscillatorNode.prototype
  OscillatorNode.prototype.start = function (...when) {
    window.sounds++
    return start.apply(this, when)
  }
})()`

/** A chat with the assistant that Ada and Grace share. */
async function openChat(config: object = {}) {
  const puppet = createPuppet()
  const stage = await openStage({ assistant: puppet.assistant }, config)
  const talk = await openTalk(stage.url)
  const { ada, grace } = talk
  const { conversation_id } = await ada.conversations.create({ title: 'Talk', layout: 'assistant' })
  const { token = '' } = await ada.invites.create(conversation_id, {})
  await grace.invites.accept({ token })
  const { page } = await stage.visit('about:blank')
  await page.addInitScript(COUNT_SOUNDS)
  await page.goto(stage.url)
  await talk.signIn(page, 'ada')
  const unread = async () => (await ada.threads.unread(conversation_id, {})).total
  const post = async (content: string) =>
    (await grace.messages.postRoot(conversation_id, { content, role: 'user' })).root_id
  const reply = (root_id: string, content: string) => grace.messages.reply(root_id, { content, role: 'user' })
  const open = async (place = '') => {
    await page.goto(`${stage.url}/#/c/${conversation_id}${place}`)
    await page.waitForSelector(`${place === '' ? '.conversation' : '.thread'} .stream[data-open=true]`)
  }
  const answer = async (text: string) => {
    const running = await puppet.asked()
    running.say(text)
    running.end()
    await page.waitForSelector(`.message[data-role=assistant]:has-text("${text}")`)
  }
  return { ...stage, ...talk, page, conversation_id, puppet, unread, post, reply, open, answer }
}

describe.skipIf(!hasBrowser)('a chat with the assistant that two share', () => {
  it('is read with the replies of all its threads, and is unread from a reply on until it is opened anew', async () => {
    const { page, url, unread, post, reply, open, problems } = await openChat()
    const [first, second] = [await post('Steam'), await post('Wheels')]
    for (const each of [1, 2]) for (const root of [first, second]) await reply(root, `Reply ${each} of ${root}`)
    await open()
    await expect.poll(unread, POLL).toBe(0)
    await choose(page, `Reply 1 of ${second}`, 'Mark unread from here')
    await page.waitForSelector(`.row:has-text("Reply 1 of ${second}") .unread-from`)
    await expect.poll(unread, POLL).toBe(2)
    // What arrives in view is not read either.
    await post('Brakes')
    await page.waitForSelector('.row:has-text("Brakes")')
    await page.evaluate(`new Promise((resolve) => setTimeout(resolve, 1500))`)
    expect(await unread()).toBe(3)
    await page.goto(`${url}/#/threads`)
    await page.waitForSelector('.settings h2:text-is("Threads")')
    await open()
    await expect.poll(unread, POLL).toBe(0)
    expect(problems).toEqual([])
  }, 120_000)

  it('makes no sound for replies in view, only elsewhere', async () => {
    const { page, ada, conversation_id, open, reply, unread, problems } = await openChat()
    const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'Steam', role: 'user' })
    await open()
    await page.click(BOX)
    for (const text of ['It runs', 'It is hot']) {
      await reply(root_id, text)
      await page.waitForSelector(`.row:has-text("${text}")`)
      await expect.poll(unread, POLL).toBe(0)
      await expect.poll(async () => (await ada.notifications.list({ unread: true })).notifications, POLL).toEqual([])
    }
    expect((await ada.notifications.list({})).notifications).toHaveLength(2)
    await page.click('.sidebar a[href="#/threads"]')
    await page.waitForSelector('.conversation', { state: 'detached' })
    await reply(root_id, 'It is loud')
    await expect.poll(() => page.evaluate('sounds'), POLL).toBe(1)
    expect(problems).toEqual([])
  }, 120_000)

  it('goes on with another thread where an answer in a thread is too deep for a reply', async () => {
    const { page, ada, conversation_id, open, answer, problems } = await openChat({ limits: { max_depth: 1 } })
    await open()
    await write(page, 'conversation', 'Why?')
    await answer('By steam.')
    const { messages } = await ada.messages.list(conversation_id, { view: 'all' })
    await open(`/t/${messages[0]!.id}`)
    await write(page, 'thread', 'Is it hot?')
    await answer('Very hot.')
    await write(page, 'thread', 'And loud?')
    await answer('Very loud.')
    await page.waitForSelector('.conversation .row:has-text("And loud?") .next-thread')
    await page.waitForSelector('.thread', { state: 'detached' })
    const all = (await ada.messages.list(conversation_id, { view: 'all' })).messages
    expect(all.map(({ prompt, depth }) => [prompt, depth])).toEqual([
      ['Why?', 0],
      ['Is it hot?', 1],
      ['And loud?', 0],
    ])
    expect(problems).toEqual([])
  }, 120_000)
})

describe.skipIf(!hasBrowser)('a thread of a room', () => {
  it('has a reply to a message that is too deep for it as a quote', async () => {
    const stage = await openStage({}, { limits: { max_depth: 1 } })
    const { ada, grace, signIn, conversation_id } = await openTalk(stage.url)
    const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'Does it run?' })
    const { message_id } = await grace.messages.reply(root_id, { content: 'It runs' })
    const { page } = await stage.visit(stage.url)
    await signIn(page, 'ada')
    await page.goto(`${stage.url}/#/c/${conversation_id}/t/${root_id}`)
    await page.waitForSelector('.thread .stream[data-open=true]')
    await page.hover('.thread .message:has-text("It runs")')
    await page.click('.thread .message:has-text("It runs") [aria-label=Reply]')
    await page.waitForSelector('.thread .replying')
    await write(page, 'thread', 'How fast?')
    await page.waitForSelector('.thread .message:not([data-pending]):has-text("How fast?")')
    const { messages } = await ada.threads.messages(root_id, {})
    expect(messages.map(({ content, parent_id, quote }) => [content, parent_id, quote?.message_id])).toEqual([
      ['It runs', root_id, undefined],
      ['How fast?', root_id, message_id],
    ])
    expect(stage.problems).toEqual([])
  })
})
