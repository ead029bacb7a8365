import { describe, expect, it } from 'vitest'

import { sql } from '../../lib/storage/sql.ts'
import { createPuppet } from '../support/assistant.ts'
import { hasBrowser, type Page } from '../support/browser.ts'

import { innerState } from '../support/service.ts'
import { openStage, PASSWORD } from './people.ts'
import { openTalk } from './talk.ts'

/** What has the focus, as it is called. */
const NAME = `(() => {
  const at = document.activeElement
  return (at.ariaLabel ?? at.labels?.[0]?.textContent ?? at.textContent).trim()
})()`

/** More than a page has stops of Tab. */
const MAX_STOPS = 150

/** Goes on by Tab, or another key, until something that is called so has the focus. */
async function goTo(page: Page, name: string | RegExp, key = 'Tab'): Promise<void> {
  const passed: string[] = []
  for (let at = 0; at < MAX_STOPS; at++) {
    const found = (await page.evaluate(NAME)) as string
    if (typeof name === 'string' ? found === name : name.test(found)) return
    passed.push(found.slice(0, 40))
    await page.keyboard.press(key)
  }
  throw new Error(`${name} has no stop among ${passed.join(' · ')}`)
}

/** Goes to something that is called so, and presses it. */
async function press(page: Page, name: string | RegExp, key?: string): Promise<void> {
  await goTo(page, name, key)
  await page.keyboard.press('Enter')
}

/** Writes in the box of a place, which has the focus, and sends it. */
async function write(page: Page, box: string, text: string): Promise<void> {
  await page.waitForSelector(`textarea[aria-label="${box}"]:focus`)
  await page.keyboard.type(text)
  await page.keyboard.press('Enter')
  await page.waitForSelector(`.message:not([data-pending]):has-text("${text}")`)
}

/** From the box of the room to the message with a text. */
async function goToMessage(page: Page, text: string): Promise<void> {
  await page.waitForSelector('textarea:focus')
  for (let at = 0; at < MAX_STOPS; at++) {
    const found = await page.evaluate(
      'document.activeElement.dataset.messageId ? document.activeElement.innerText : ""',
    )
    if ((found as string).includes(text)) return
    await page.keyboard.press(found ? 'ArrowUp' : 'Shift+Tab')
  }
  throw new Error(`No message with ${text} has got the focus`)
}

/** Goes to a room or a person that is called so, by some letters of the name. */
async function switchTo(page: Page, letters: string, name: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.waitForSelector('[role=combobox]:focus')
  await page.keyboard.type(letters)
  await page.waitForSelector(`[role=option][aria-selected=true]:has-text("${name}")`)
  await page.keyboard.press('Enter')
}

/** Fails where a pointer is used. */
const NO_POINTER = `addEventListener('pointerdown', () => { throw new Error('a pointer was used') }, { capture: true })`

/** Collects what screen readers say: each text that comes into a place which they watch. */
const LISTEN = `
  window.said = []
  new MutationObserver((changes) => {
    for (const { target } of changes) {
      const place = (target.nodeType === 1 ? target : target.parentElement)?.closest('[aria-live=polite], [role=status], [role=alert]')
      const text = place?.textContent.trim()
      if (text && said.at(-1) !== text) said.push(text)
    }
  }).observe(document.body, { subtree: true, childList: true, characterData: true })
`

/** Fills the form of a newcomer in, and sends it. */
async function join(page: Page, name: string): Promise<void> {
  const fields = { display_name: name, email: `${name.toLowerCase()}@example.org`, password: PASSWORD }
  for (const [field, text] of Object.entries(fields)) {
    for (let at = 0; at < MAX_STOPS && (await page.evaluate('document.activeElement.name')) !== field; at++)
      await page.keyboard.press('Tab')
    await page.keyboard.type(text)
  }
  await page.keyboard.press('Enter')
}

/** A small picture. */
const DRAW = `(() => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 40, height: 40 })
  canvas.getContext('2d').fillRect(0, 0, 40, 40)
  return canvas.toDataURL('image/png').split(',')[1]
})()`

describe.skipIf(!hasBrowser)('by keys alone', () => {
  it('the service is set up, and another user invited, who joins', async () => {
    const { url, visit, problems } = await openStage({})
    const { page } = await visit(url, { permissions: ['clipboard-read', 'clipboard-write'] })
    await page.evaluate(NO_POINTER)
    await join(page, 'Ada')
    await page.waitForSelector('textarea[aria-label="Message General"]:focus')
    await press(page, /^Copy invite link/, 'Shift+Tab')
    await page.waitForSelector('.greeting small:has-text("25 people can join with it")')
    await goTo(page, 'Message General')
    await write(page, 'Message General', 'Welcome')
    const { page: graces } = await visit((await page.evaluate('navigator.clipboard.readText()')) as string)
    await graces.evaluate(NO_POINTER)
    await join(graces, 'Grace')
    await write(graces, 'Message General', 'I am here')
    expect(problems).toEqual([])
  }, 120_000)

  it('a user quotes, opens a thread, reacts, edits, marks all read, and hears what others write', async () => {
    const { url, visit, problems } = await openStage({})
    const { ada, grace, conversation_id, signIn } = await openTalk(url)
    await grace.auth.changeProfile({ username: 'grace', display_name: 'Grace Hopper' })
    const { message } = await grace.messages.postRoot(conversation_id, { content: 'Does it run?' })
    const { user } = await ada.auth.me()
    const { page } = await visit(url)
    await signIn(page, 'ada')
    await page.evaluate(NO_POINTER)
    await switchTo(page, 'engi', 'Engines')
    await write(page, 'Message Engines', 'It does')
    await page.evaluate(LISTEN)

    await goToMessage(page, 'Does it run?')
    await page.keyboard.press('r')
    await write(page, 'Message Engines', 'Very well')
    await page.waitForSelector('.message:has-text("Very well") .quote:has-text("Does it run?")')
    await page.keyboard.press('ArrowUp')
    await page.waitForSelector('.edit textarea:focus')
    await page.keyboard.type(' indeed')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.message:not([data-pending]):has-text("Very well indeed")')
    await goToMessage(page, 'Does it run?')
    await page.keyboard.press('a')
    await page.waitForSelector('.panel .emoji :focus')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.message:has-text("Does it run?") .reaction[aria-pressed=true]')

    await grace.messages.postRoot(conversation_id, { content: 'Then we ship' })
    await page.waitForSelector('.message:has-text("Then we ship")')
    await expect.poll(() => page.evaluate('said'), { timeout: 30_000 }).not.toEqual([])
    await grace.messages.reply(message.id, { content: 'Since when?' })
    await page.waitForSelector('.row:has-text("1 reply")')
    await page.evaluate(`document.querySelector('.conversation .composer textarea').focus()`)
    await goToMessage(page, 'Does it run?')
    await page.keyboard.press('t')
    await write(page, 'Reply', 'Since noon')
    await page.keyboard.press('Escape')
    await page.waitForSelector('.thread', { state: 'detached' })

    const { conversation } = await grace.conversations.direct({ user_id: user.id })
    await grace.messages.postRoot(conversation.id, { content: 'Are you there?' })
    await page.waitForSelector('.inbox-button .badge')
    await page.keyboard.press('Shift+Escape')
    await page.waitForSelector('.inbox-button .badge', { state: 'detached' })
    expect(await page.evaluate('said')).toMatchInlineSnapshot(`
      [
        "Grace Hopper: Then we ship",
      ]
    `)
    expect(problems).toEqual([])
  }, 180_000)

  it('a user mutes a room, fills another one, adds a photo and chooses a layout', async () => {
    const { url, visit, chat, problems } = await openStage({})
    const { ada, grace, conversation_id, signIn } = await openTalk(url)
    await grace.auth.changeProfile({ username: 'grace', display_name: 'Grace Hopper' })
    const { page } = await visit(url)
    await signIn(page, 'ada')
    await page.evaluate(NO_POINTER)
    await switchTo(page, 'hop', 'Grace Hopper')
    await write(page, 'Message Grace Hopper', 'Hello')

    // The list is one stop of Tab: where it is depends on which row was last in view.
    await goTo(page, /^(Rooms$|Grace Hopper)/, 'Shift+Tab')
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowDown')
    await goTo(page, 'More', 'ArrowRight')
    await press(page, 'More')
    await press(page, 'Mute')
    await press(page, '8 hours')
    await page.waitForSelector('.conversations a[data-muted=true]')

    await goTo(page, 'Rooms', 'ArrowUp')
    await press(page, 'New room', 'ArrowRight')
    await page.waitForSelector('dialog [name=title]:focus')
    await page.keyboard.type('Weaving')
    await page.keyboard.press('Enter')
    await page.waitForSelector('textarea[aria-label="Message Weaving"]:focus')
    await press(page, /(person|people)$/, 'Shift+Tab')
    await page.waitForSelector('.details [name=who]')
    for (let at = 0; at < MAX_STOPS && (await page.evaluate('document.activeElement.name')) !== 'who'; at++)
      await page.keyboard.press('Tab')
    await page.keyboard.type('hop')
    await page.waitForSelector('.details .choices button:has-text("Grace Hopper")')
    await press(page, /^Grace Hopper/)
    await page.waitForSelector('.participants li:has-text("Grace Hopper")')

    const photo = Buffer.from((await page.evaluate(DRAW)) as string, 'base64')
    await press(page, 'Your account', 'Shift+Tab')
    await press(page, /^Account/)
    const choosing = page.waitForEvent('filechooser')
    await press(page, 'Add a photo')
    await (await choosing).setFiles([{ name: 'ada.png', mimeType: 'image/png', buffer: photo }])
    await page.waitForSelector('dialog button:text-is("Save")')
    await press(page, 'Save')
    await page.waitForSelector('.sidebar > header .avatar img')

    await innerState(chat).db.write((tx) =>
      tx.run(sql`UPDATE conversations SET layout = NULL WHERE id = ${conversation_id}`),
    )
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.reload()
    await page.waitForSelector('button:text-is("Show as a stream")')
    await press(page, 'Show as a stream')
    await page.waitForSelector('.conversation .stream[data-open=true]')
    const { conversations } = await ada.conversations.list({})
    expect(conversations.find(({ id }) => id === conversation_id)!.layout).toBe('stream')
    expect(problems).toEqual([])
  }, 180_000)

  it('a user asks the assistant, goes on in a thread, and stops it', async () => {
    const puppet = createPuppet()
    const { url, visit, problems } = await openStage({ assistant: puppet.assistant })
    const { conversation_id, signIn } = await openTalk(url)
    const { page } = await visit(url)
    await signIn(page, 'ada')
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.waitForSelector('.stream[data-open=true]')
    await page.waitForSelector('.composer .chip')
    await page.evaluate(NO_POINTER)
    await page.evaluate(LISTEN)
    await page.waitForSelector('textarea[aria-label="Message Engines"]:focus')
    await page.keyboard.type('@')
    await page.waitForSelector('[role=option][aria-selected=true]:has-text("Assistant")')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.composer[data-asks=true] textarea:focus')
    await page.keyboard.type('Why?')
    await page.keyboard.press('Enter')
    const first = await puppet.asked()
    const said = () => page.evaluate('said.at(-1)')
    await expect.poll(said, { timeout: 30_000 }).toBe('Assistant is answering.')
    first.say('By steam.')
    first.end()
    await page.waitForSelector('.message:not([data-pending]):has-text("By steam.")')
    await expect.poll(said, { timeout: 30_000 }).toBe('Assistant has answered.')
    await goToMessage(page, 'By steam.')
    await page.keyboard.press('t')
    await page.waitForSelector('textarea[aria-label="Reply"]:focus')
    await page.keyboard.type('Is it hot?')
    await page.keyboard.press('Enter')
    const second = await puppet.asked()
    second.say('Very')
    await page.waitForSelector('.thread .message:has-text("Very")')
    await expect.poll(said, { timeout: 30_000 }).toBe('Assistant is answering.')
    await press(page, 'Stop')
    await second.aborted
    await expect.poll(said, { timeout: 30_000 }).toBe('Assistant: Stopped.')
    expect(await page.evaluate('said')).toMatchInlineSnapshot(`
      [
        "3 names, arrows choose one.",
        "Assistant is answering.",
        "Assistant has answered.",
        "Assistant is answering.",
        "Assistant: Stopped.",
      ]
    `)
    expect(problems).toEqual([])
  }, 120_000)
})
