import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { hasBrowser, type Page } from '../support/browser.ts'
import { look } from './looks.ts'
import { address, expectOne, openStage, write } from './people.ts'
import { openTalk } from './talk.ts'

const BOX = '.conversation .composer textarea'
const DAY = 24 * 60 * 60 * 1000

/** Makes what the browser keeps under a prefix older. */
const age = (page: Page, prefix: string, ms: number) =>
  page.evaluate(`for (const key of Object.keys(localStorage).filter((each) => each.startsWith('${prefix}'))) {
    const kept = JSON.parse(localStorage[key])
    localStorage[key] = JSON.stringify({ ...kept, at: kept.at - ${ms} })
  }`)

async function reply(page: Page): Promise<void> {
  await page.hover('.message:has-text("Does it run?")')
  await page.click('.message:has-text("Does it run?") .at-hand [aria-label=Reply]')
}

async function openRoom(config = {}) {
  const stage = await openStage({}, config)
  const talk = await openTalk(stage.url)
  const { page, context } = await stage.visit(stage.url)
  await talk.signIn(page, 'ada')
  const { conversation_id, grace } = talk
  const { message } = await grace.messages.postRoot(conversation_id, { content: 'Does it run?' })
  await page.goto(`${stage.url}/#/c/${conversation_id}`)
  await page.waitForSelector('.row:has-text("Does it run?")')
  return { ...stage, ...talk, page, context, message }
}

describe.skipIf(!hasBrowser)('what was not sent', () => {
  it('is a draft with its quote, addressee and files, which is listed, and kept for 30 days', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'chat-web-drafts-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const { page, ada, url, conversation_id, problems } = await openRoom({
      assistant: { provider: 'echo' },
      attachments: { enabled: true, storage: `fs:${folder}` },
    })
    await page.waitForSelector('.sidebar a[href="#/drafts"]', { state: 'detached' })
    await reply(page)
    await page.setInputFiles('.conversation .composer input[type=file]', [
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('It runs.') },
    ])
    await page.waitForSelector('.draft-files [data-status=ready]')
    await page.fill(BOX, 'I think so')
    await address(page, 'conversation', 'Assistant')
    await page.reload()
    await page.waitForSelector('.replying:has-text("Reply to grace")')
    await page.waitForSelector('.draft-files [data-status=ready]:has-text("notes.txt")')
    await page.waitForSelector('.conversation [aria-label="To: Assistant"]')
    expect(await page.inputValue(BOX)).toBe('I think so')

    await page.press('.sidebar a[href="#/drafts"]', 'Enter')
    await page.waitForSelector('.inbox a:has-text("Engines"):has-text("I think so")')
    await look(page, 'drafts')
    await page.press('.inbox a', 'Enter')
    await page.waitForSelector('.draft-files [data-status=ready]')
    await address(page, 'conversation', 'Everyone')
    await page.press(BOX, 'Enter')
    await page.waitForSelector('.message:has-text("I think so"):not([data-pending]) .quote')
    const { messages } = await ada.messages.list(conversation_id, {})
    expect(messages.at(-1)!.attachments?.map(({ name }) => name)).toEqual(['notes.txt'])
    await page.waitForSelector('.sidebar a[href="#/drafts"]', { state: 'detached' })

    await page.fill(BOX, 'For another day')
    await page.click('.sidebar a[href="#/drafts"]')
    await page.click('[aria-label="Discard the draft for Engines"]')
    await page.waitForSelector('.settings p:text-is("No drafts.")')
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.fill(BOX, 'For another month')
    await age(page, 'chat:draft:', 31 * DAY)
    await page.reload()
    await page.waitForSelector(BOX)
    expect(await page.inputValue(BOX)).toBe('')
    expect(problems).toEqual([])
  })

  it('is sent once its files are uploaded, also when the user is elsewhere, and back in its box', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'chat-web-drafts-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const { page, ada, url, conversation_id, problems } = await openRoom({
      attachments: { enabled: true, storage: `fs:${folder}` },
    })
    let release = () => {}
    const hold = async () => {
      const released = new Promise<void>((resolve) => {
        release = resolve
      })
      await page.route(/\/api\/attachments\/[^/]+\/parts/, async (route) => {
        await released
        await route.continue()
      })
    }
    const send = async (text: string) => {
      await page.setInputFiles('.conversation .composer input[type=file]', [
        { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('It runs.') },
      ])
      await page.fill(BOX, text)
      await page.press(BOX, 'Enter')
      await page.waitForSelector('.composer [role=status] button:text-is("Cancel")')
    }
    const posted = async () =>
      (await ada.messages.list(conversation_id, {})).messages.map(({ content, attachments = [] }) => [
        content,
        attachments.map(({ name }) => name),
      ])
    await hold()
    await send('Elsewhere')
    await page.click('.sidebar a[href="#/threads"]')
    await page.waitForSelector('.settings h2:text-is("Threads")')
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.waitForSelector(BOX)
    expect(await page.inputValue(BOX)).toBe('Elsewhere')
    await page.click('.sidebar a[href="#/threads"]')
    await page.waitForSelector('.settings h2:text-is("Threads")')
    release()
    await expect.poll(posted).toEqual([
      ['Does it run?', []],
      ['Elsewhere', ['notes.txt']],
    ])
    await page.waitForSelector('.sidebar a[href="#/drafts"]', { state: 'detached' })
    expect(problems).toEqual([])
  })

  it('stays as "Not sent" with the reason and its text when it is refused, until it is discarded', async () => {
    const { page, grace, message, problems } = await openRoom()
    await reply(page)
    await page.waitForSelector('.replying')
    await grace.messages.remove(message.id)
    await page.waitForSelector('.message:has-text("This message was deleted.")')
    await write(page, 'conversation', 'It does')
    const REFUSED = '.conversation .message[data-pending=failed]:has-text("It does")'
    const REASON = `${REFUSED} .note:has-text("Not sent. The message was deleted")`
    await page.waitForSelector(REASON)
    await page.reload()
    await page.waitForSelector(REASON)
    await look(page, 'not-sent')
    await page.press(`${REFUSED} button:text-is("Discard")`, 'Enter')
    await page.waitForSelector(REFUSED, { state: 'detached' })
    await page.reload()
    await page.waitForSelector(BOX)
    expect(await page.evaluate(`Object.keys(localStorage).filter((key) => key.startsWith('chat:unsent:'))`)).toEqual([])
    expect(problems).toEqual([])
  })

  it('is sent again only by the user after a day, once, and with another key', async () => {
    const { page, context, ada, conversation_id, problems } = await openRoom()
    await page.route(/\/root$/, (route) => route.abort('connectionreset'))
    await write(page, 'conversation', 'From the train')
    await page.waitForSelector('.message[data-pending=failed] .note:has-text("Waiting to be sent.")')
    await age(page, 'chat:unsent:', DAY)
    await page.reload()
    const other = await context.newPage()
    await other.goto(page.url())
    await other.waitForSelector('.not-sent')
    await page.waitForSelector('.not-sent:has-text("From the train"):has-text("Not sent. It has waited for a day.")')
    await look(page, 'not-sent-old')
    expect((await ada.messages.list(conversation_id, {})).messages.map(({ content }) => content)).toEqual([
      'Does it run?',
    ])
    await page.unrouteAll({ behavior: 'wait' })
    // In both tabs at once, unless one has heard of the other.
    const again = `document.querySelector('.not-sent button')?.click()`
    await Promise.all([page.evaluate(again), other.evaluate(again)])
    for (const each of [page, other]) {
      await each.waitForSelector('.not-sent', { state: 'detached' })
      await expectOne(each, '.message:has-text("From the train"):not([data-pending])')
    }
    expect((await ada.messages.list(conversation_id, {})).messages).toHaveLength(2)
    // But for the connection that was broken off.
    expect(problems.filter((each) => !each.includes('ERR_CONNECTION_RESET'))).toEqual([])
  })

  it('is shown in a talk with the assistant also where it would go on below an answer', async () => {
    const stage = await openStage({}, { assistant: { provider: 'echo' } })
    const { ada, signIn } = await openTalk(stage.url)
    const { conversation_id } = await ada.conversations.create({ title: 'Sums', layout: 'assistant' })
    const { page } = await stage.visit(stage.url)
    await signIn(page, 'ada')
    await page.goto(`${stage.url}/#/c/${conversation_id}`)
    await write(page, 'conversation', 'One and one')
    await page.waitForSelector('.message.assistant:has-text("One and one"), .message:has-text("One and one") >> nth=1')
    await page.waitForSelector('.composer [aria-label=Send]')
    await page.route(/\/reply$/, (route) => route.abort('connectionreset'))
    await write(page, 'conversation', 'Two and two')
    await page.waitForSelector('.message[data-pending=failed] .note:has-text("Waiting to be sent.")')
    await age(page, 'chat:unsent:', DAY)
    await page.reload()
    const NOT_SENT = '.conversation .not-sent:has-text("Two and two")'
    await page.waitForSelector(NOT_SENT)
    await page.unrouteAll({ behavior: 'wait' })
    await page.press(`${NOT_SENT} button:text-is("Send again")`, 'Enter')
    await page.waitForSelector(NOT_SENT, { state: 'detached' })
    await page.waitForSelector('.message:not([data-pending]):has-text("Two and two")')
    expect(stage.problems.filter((each) => !each.includes('ERR_CONNECTION_RESET'))).toEqual([])
  })

  it('is not sent again with its old key by a tab that stays open for a day', async () => {
    const { page, ada, conversation_id, problems } = await openRoom()
    const keys: string[] = []
    await page.route(/\/root$/, async (route) => {
      keys.push(route.request().headers()['idempotency-key']!)
      await route.abort('connectionreset')
    })
    await write(page, 'conversation', 'From the train')
    const POST = '.message[data-pending=failed]:has-text("From the train")'
    await page.waitForSelector(`${POST} .note:has-text("Waiting to be sent.")`)
    await age(page, 'chat:unsent:', DAY)
    const sent = keys.length
    // The next attempt by itself is none.
    await page.waitForSelector(`${POST} .note:has-text("Not sent. It has waited for a day.")`)
    expect(keys).toHaveLength(sent)
    await page.unrouteAll({ behavior: 'wait' })
    await page.route(/\/root$/, async (route) => {
      keys.push(route.request().headers()['idempotency-key']!)
      await route.continue()
    })
    await page.press(`${POST} button:text-is("Send again")`, 'Enter')
    await expectOne(page, '.message:has-text("From the train"):not([data-pending])')
    expect(keys).toHaveLength(sent + 1)
    expect(new Set(keys).size).toBe(2)
    expect((await ada.messages.list(conversation_id, {})).messages).toHaveLength(2)
    expect(problems.filter((each) => !each.includes('ERR_CONNECTION_RESET'))).toEqual([])
  })
})
