import { describe, expect, it } from 'vitest'
import { createChatClient } from '../../lib/client/index.ts'
import { createPuppet } from '../support/assistant.ts'
import { hasBrowser, type Page } from '../support/browser.ts'
import { openStage, PASSWORD, write } from './people.ts'
import { openTalk } from './talk.ts'
import { POLL } from './threads.ts'

/** The times in which news are gathered end when the test ends them. */
const HOLD_NEWS = `(() => {
  const { setTimeout: set } = window
  let act
  window.setTimeout = (then, ms, ...values) => {
    if (ms !== 350 && ms !== 3000) return set(then, ms, ...values)
    act = then
    return 1
  }
  const said = []
  new MutationObserver((changes) => {
    for (const { target } of changes) if (target.parentElement?.ariaLive === 'polite') said.push(target.data.trim())
  }).observe(document, { subtree: true, characterData: true })
  // What is shown is told after the next frame.
  window.endNews = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => set(() => {
    const then = act
    act = undefined
    then?.()
    set(() => resolve(said.shift()), 20)
  }, 100))))
})()`

/** What a screen reader is told next. */
async function heard(page: Page): Promise<string> {
  let text: unknown
  await expect
    .poll(async () => {
      text = await page.evaluate('endNews()')
      return text
    }, POLL)
    .toBeTypeOf('string')
  return text as string
}

/** Ada looks at a room of three. */
async function openRoom(layout: 'stream' | 'topics' | 'assistant') {
  const puppet = createPuppet()
  const stage = await openStage({ assistant: puppet.assistant })
  const { ada, grace, signIn } = await openTalk(stage.url)
  const { conversation_id } = await ada.conversations.create({ title: 'Wheels', layout })
  const bob = createChatClient({ base_url: stage.url })
  const { token = '' } = await ada.invites.create(conversation_id, { max_uses: 2 })
  await grace.invites.accept({ token })
  await bob.invites.accept({ token, username: 'bob', email: 'bob@example.org', password: PASSWORD })
  const { page } = await stage.visit('about:blank')
  await page.addInitScript(HOLD_NEWS)
  await page.goto(stage.url)
  await signIn(page, 'ada')
  const open = async () => {
    await page.goto(`${stage.url}/#/c/${conversation_id}`)
    await page.waitForSelector(
      layout === 'topics' ? '.conversation .greeting, .thread-card' : '.stream[data-open=true]',
    )
  }
  await open()
  const post = async (who: typeof ada, content: string) =>
    (await who.messages.postRoot(conversation_id, { content, role: 'user' })).root_id
  return { ...stage, page, ada, grace, bob, conversation_id, puppet, open, post }
}

describe.skipIf(!hasBrowser)('what screen readers are told', () => {
  it('is a message, or the number of several with their authors, also the first ones of a room', async () => {
    const { page, url, grace, bob, ada, conversation_id, post, open, problems } = await openRoom('stream')
    await post(grace, 'Do they turn?')
    await page.waitForSelector('.row:has-text("Do they turn?")')
    expect(await heard(page)).toBe('grace: Do they turn?')
    await post(bob, 'Which ones?')
    await post(grace, 'All of them')
    const root_id = await post(bob, 'They do')
    await post(ada, 'So they do')
    await page.waitForSelector('.row:has-text("So they do")')
    expect(await heard(page)).toBe('3 new messages from bob and grace')

    // In a thread, what is written in it; what was not told when it is closed is not told any more.
    await page.goto(`${url}/#/c/${conversation_id}/t/${root_id}`)
    await page.waitForSelector('.thread .stream[data-open=true]')
    await grace.messages.reply(root_id, { content: 'Not for long' })
    await page.waitForSelector('.thread .row:has-text("Not for long")')
    await page.press('.thread .composer textarea', 'Escape')
    await page.waitForSelector('.thread', { state: 'detached' })
    await post(grace, 'At last')
    await page.waitForSelector('.row:has-text("At last")')
    expect(await heard(page)).toBe('grace: At last')
    await page.goto(`${url}/#/threads`)
    await page.waitForSelector('.settings h2:text-is("Threads")')
    await open()
    await post(grace, 'At last')
    await page.waitForSelector('.row:has-text("At last") ~ .row:has-text("At last")')
    expect(await heard(page)).toBe('grace: At last')
    expect(problems).toEqual([])
  }, 120_000)

  it('is that an answer begins, and how it ends', async () => {
    const { page, puppet, problems } = await openRoom('assistant')
    const ask = async (text: string) => {
      await write(page, 'conversation', text)
      const answer = await puppet.asked()
      await page.waitForSelector(`.question:not([data-pending]):has-text("${text}")`)
      return answer
    }
    const first = await ask('Does it run?')
    await page.waitForSelector('.conversation [aria-label=Stop]')
    expect(await heard(page)).toBe('Assistant is answering.')
    first.say('It does.')
    first.end()
    await page.waitForSelector('.conversation [aria-label=Send]')
    expect(await heard(page)).toBe('Assistant has answered.')
    const second = await ask('Is it loud?')
    second.fail(new Error('made for a test'))
    await page.waitForSelector('.note:has-text("The assistant could not answer.")')
    expect(await heard(page)).toBe('Assistant: The assistant could not answer.')
    expect(problems).toEqual([])
  }, 120_000)

  it('is what is written in the threads of a room with topics, but for the one that is open', async () => {
    const { page, grace, bob, post, problems } = await openRoom('topics')
    const root_id = await post(grace, 'Do *they* turn?')
    await page.waitForSelector('.thread-card:has-text("Do they turn?")')
    expect(await heard(page)).toBe('grace: Do they turn?')
    await bob.messages.reply(root_id, { content: 'They do' })
    await page.waitForSelector('.thread-card:has-text("1 reply")')
    expect(await heard(page)).toBe('1 new message from bob')
    await page.click('.thread-card')
    await page.waitForSelector('.thread .stream[data-open=true]')
    await bob.messages.reply(root_id, { content: 'All of them' })
    await page.waitForSelector('.thread-card:has-text("2 replies")')
    await page.waitForSelector('.thread .row:has-text("All of them")')
    expect(await heard(page)).toBe('bob: All of them')
    expect(problems).toEqual([])
  }, 120_000)
})
