import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { hasBrowser, type Page } from '../support/browser.ts'
import { wave } from '../support/wave.ts'
import { look } from './looks.ts'
import { address, openStage, signInAsAda } from './people.ts'

/** A picture of 2 × 1 pixels that browsers show. */
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAYAAAD0In+KAAAAD0lEQVR4nGP4z8DwHwwBABXvA/2AvzOQAAAAAElFTkSuQmCC',
  'base64',
)

/** Gives files to the field of a pane, as dropping or pasting does. */
function give(page: Page, kind: 'drop' | 'paste', name: string): Promise<unknown> {
  return page.evaluate(`{
    const data = new DataTransfer()
    data.items.add(new File(['as ${kind}'], ${JSON.stringify(name)}, { type: 'text/plain' }))
    const field = document.querySelector('.thread .composer textarea')
    const init = { bubbles: true, cancelable: true }
    field.dispatchEvent(${kind === 'drop' ? "new DragEvent('drop', { ...init, dataTransfer: data })" : "new ClipboardEvent('paste', { ...init, clipboardData: data })"})
  }`)
}

async function open(attachments: object = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'chat-web-files-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const stage = await openStage(
    {},
    {
      assistant: { provider: 'echo' },
      attachments: { enabled: true, storage: `fs:${folder}`, ...attachments },
    },
  )
  const { page, ada } = await signInAsAda(stage)
  const { conversation_id } = await stage.chat.conversations.create(ada, { title: 'Engines' })
  const { root_id } = await stage.chat.messages.postRoot(ada, conversation_id, { content: 'Does it run?' })
  await page.goto(`${stage.url}/#/c/${conversation_id}/t/${root_id}`)
  await page.waitForSelector('.thread .composer textarea')
  const upload = async (name: string) => {
    const { attachment } = await stage.chat.attachments.create(ada, conversation_id, { name, size: 4 })
    await stage.chat.attachments.putPart(ada, attachment.id, 1, { bytes: Buffer.from('plan') })
    return attachment.id
  }
  return { ...stage, page, ada, conversation_id, root_id, upload }
}

/** The pictures beside the files of a draft: where they come from, and how wide they are. */
const SHOWN = `Array.from(document.querySelectorAll('.thread .draft-files .thumbnail'),
  ({ src, naturalWidth }) => [new URL(src).protocol, naturalWidth])`

const namesOf = (page: Page) => page.locator('.thread .draft-files .file-name').allTextContents()

describe.skipIf(!hasBrowser)('files in the web chat', () => {
  it('are chosen, dropped and pasted, and posted: pictures are shown, other files are links', async () => {
    const { page, chat, ada, conversation_id, root_id, problems, upload } = await open()
    await page.setInputFiles('.thread .composer input[type=file]', [
      { name: 'engine.png', mimeType: 'image/png', buffer: PICTURE },
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('It runs.') },
    ])
    await give(page, 'drop', 'dropped.txt')
    await give(page, 'paste', 'pasted.txt')
    await page.waitForSelector('.thread .draft-files li:nth-child(4)[data-status=ready]')
    // They are sent at the same time, so any may be the last.
    await page.waitForSelector('.thread .draft-files li:not([data-status=ready])', { state: 'detached' })
    expect(await namesOf(page)).toEqual(['engine.png', 'notes.txt', 'dropped.txt', 'pasted.txt'])
    // A picture is seen before it is sent, from this device; of a text, there is a sign.
    await expect.poll(() => page.evaluate(SHOWN), { timeout: 60_000 }).toEqual([['blob:', 2]])
    await look(page, 'files-draft')
    await page.click('.thread [aria-label="Remove dropped.txt"]')
    await page.press('.thread .composer textarea', 'Enter')
    await page.waitForSelector('.thread .files .picture img')
    await page.waitForSelector('.thread .draft-files', { state: 'detached' })
    await page.waitForSelector('.thread .message:not([data-pending]) .files')
    expect(await page.locator('.thread .files .file .file-name').allTextContents()).toEqual(['notes.txt', 'pasted.txt'])
    const isShown = `new Promise((done) => {
      const look = () => {
        const { complete, naturalWidth } = document.querySelector('.thread .files img')
        complete ? done(naturalWidth) : setTimeout(look, 20)
      }
      look()
    })`
    expect(await page.evaluate(isShown)).toBe(2)
    await look(page, 'files')
    const { messages } = await chat.threads.tree(ada, root_id)
    expect(messages[1]?.attachments?.map(({ name }) => name)).toEqual(['engine.png', 'notes.txt', 'pasted.txt'])
    // A thread of files alone is listed with their names.
    await chat.conversations.rename(ada, conversation_id, { layout: 'topics' })
    await chat.messages.postRoot(ada, conversation_id, { content: '', attachment_ids: [await upload('plan.txt')] })
    await page.waitForSelector('.thread-card .excerpt:has-text("plan.txt")')
    expect(problems).toEqual([])
  })

  it('hold back the message that they belong to until they are uploaded, unless it changes', async () => {
    const { page, chat, ada, root_id, problems } = await open()
    let release = () => {}
    await page.route(/\/api\/attachments\/[^/]+\/parts/, async (route) => {
      await new Promise<void>((resolve) => {
        release = resolve
      })
      await route.continue()
    })
    const BOX = '.thread .composer textarea'
    const WAITS = '.thread .composer [role=status]:has-text("sent once the files are uploaded")'
    const attach = (name: string) =>
      page.setInputFiles('.thread .composer input[type=file]', [
        { name, mimeType: 'text/plain', buffer: Buffer.from('It runs.') },
      ])
    await attach('notes.txt')
    await page.waitForSelector('.thread .draft-files [data-status=uploading] progress')
    await page.fill(BOX, 'Here')
    await page.press(BOX, 'Enter')
    await page.waitForSelector(WAITS)
    await look(page, 'files-waiting')
    await page.press(BOX, 'x')
    await page.waitForSelector(WAITS, { state: 'detached' })
    await page.press(BOX, 'Enter')
    await page.press('.thread .composer button:text-is("Cancel")', 'Enter')
    await page.waitForSelector(WAITS, { state: 'detached' })
    expect(await page.inputValue(BOX)).toBe('Herex')
    await page.fill(BOX, 'Here they are')
    await page.press(BOX, 'Enter')
    await page.waitForSelector(WAITS)
    expect((await chat.threads.tree(ada, root_id)).messages).toHaveLength(1)
    release()
    await page.waitForSelector('.thread .message:not([data-pending]):has-text("Here they are") .files')
    const { messages } = await chat.threads.tree(ada, root_id)
    expect(messages.map(({ content, attachments = [] }) => [content, attachments.length])).toEqual([
      ['Does it run?', 0],
      ['Here they are', 1],
    ])
    expect(await page.inputValue(BOX)).toBe('')
    await page.unrouteAll({ behavior: 'wait' })
    expect(problems).toEqual([])
  })

  it('are sent with a question to the assistant, and shown with it', async () => {
    const { page, chat, ada, root_id, problems } = await open()
    const BOX = '.thread .composer textarea'
    await page.setInputFiles('.thread .composer input[type=file]', [
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('It runs.') },
    ])
    await page.waitForSelector('.thread .draft-files [data-status=ready]')
    await address(page, 'thread', 'Assistant')
    // Files alone ask nothing.
    await page.press(BOX, 'Enter')
    await page.fill(BOX, 'What is it?')
    await page.press(BOX, 'Enter')
    await page.waitForSelector('.thread .question:not([data-pending]) .files')
    await look(page, 'files-question')
    const { messages } = await chat.threads.tree(ada, root_id)
    expect(
      messages.slice(1).map(({ prompt, attachments = [] }) => [prompt, attachments.map(({ name }) => name)]),
    ).toEqual([['What is it?', ['notes.txt']]])
    expect(await page.locator('.thread .message:not(.question) .files').allTextContents()).toEqual([])
    expect(problems).toEqual([])
  })

  it('of sound are played in the page, and can be saved', async () => {
    const { page, problems } = await open()
    await page.setInputFiles('.thread .composer input[type=file]', [
      { name: 'engine.wav', mimeType: 'audio/wav', buffer: wave(0.2) },
    ])
    await page.waitForSelector('.thread .draft-files [data-status=ready]')
    await page.press('.thread .composer textarea', 'Enter')
    await page.waitForSelector('.thread .message:not([data-pending]) .media audio[aria-label="engine.wav"]')
    expect(await page.locator('.thread .media a[download="engine.wav"] .file-name').allTextContents()).toHaveLength(1)
    await look(page, 'files-sound')
    const played = await page.evaluate(`(async () => {
      const audio = document.querySelector('.thread .media audio')
      const before = audio.readyState
      audio.muted = true
      const ended = new Promise((done, fail) => {
        audio.onended = done
        audio.onerror = () => fail(new Error(audio.error.message))
      })
      await audio.play()
      await ended
      return [before, Math.round(audio.duration * 10)]
    })()`)
    // Nothing of it is loaded before.
    expect(played).toEqual([0, 2])
    expect(problems).toEqual([])
  })

  it('are cards where they are pictures that no browser shows, with the end of a long name and their size', async () => {
    const { page, conversation_id, chat, ada, problems } = await open()
    const name = 'the-drawing-of-the-engine-that-nobody-has-ever-seen-in-one-piece.png'
    await page.setInputFiles('.thread .composer input[type=file]', [
      // A checksum is wrong: the service does not look at it.
      { name, mimeType: 'image/png', buffer: Buffer.from(PICTURE).fill(0, 29, 33) },
      { name: 'one.txt', mimeType: 'text/plain', buffer: Buffer.from('1') },
      { name: 'three.txt', mimeType: 'text/plain', buffer: Buffer.from('123') },
      { name: 'nearly.txt', mimeType: 'text/plain', buffer: Buffer.alloc(999_960, 'a') },
    ])
    await page.waitForSelector('.thread .draft-files li:nth-child(4)[data-status=ready]')
    await page.waitForSelector('.thread .draft-files li:not([data-status=ready])', { state: 'detached' })
    await look(page, 'files-long-name-draft')
    await page.press('.thread .composer textarea', 'Enter')
    await page.waitForSelector(`.thread .files a.file[download="${name}"]`)
    expect(await page.locator('.thread .files .picture').allTextContents()).toEqual([])
    expect(await page.locator('.thread .files .file small').allTextContents()).toEqual([
      `${PICTURE.length} bytes`,
      '1 byte',
      '3 bytes',
      '1 MB',
    ])
    await page.setViewportSize({ width: 320, height: 700 })
    // The end of the name is in view, whatever the width.
    expect(
      await page.evaluate(`(() => {
        const shown = document.querySelector('.thread .files .file-name')
        const range = document.createRange()
        range.selectNodeContents(shown.lastChild)
        const [end, box] = [range.getBoundingClientRect(), shown.closest('.thread').getBoundingClientRect()]
        return [shown.lastChild.textContent, end.width > 0 && end.right <= box.right, shown.firstChild.scrollWidth > shown.firstChild.clientWidth]
      })()`),
    ).toEqual(['iece.png', true, true])
    await look(page, 'files-long-name')
    await page.emulateMedia({ colorScheme: 'dark' })
    await look(page, 'files-long-name-dark')
    await page.setViewportSize({ width: 1280, height: 800 })
    const { attachment } = await chat.attachments.create(ada, conversation_id, { name: 'a.txt', size: 4 })
    await chat.attachments.putPart(ada, attachment.id, 1, { bytes: Buffer.from('plan') })
    await chat.messages.postRoot(ada, conversation_id, { content: 'With a file', attachment_ids: [attachment.id] })
    await chat.conversations.rename(ada, conversation_id, { layout: 'topics' })
    await page.waitForSelector('.thread-card:has-text("With a file") .has-files:has-text("1 file")')
    await look(page, 'files-thread-list-dark')
    expect(problems).toEqual([])
  })

  it('that are too large are refused, and those that fail are sent again', async () => {
    const { page } = await open({ max_bytes: 2 ** 20 })
    const file = (name: string, size: number) => ({ name, mimeType: 'text/plain', buffer: Buffer.alloc(size, 'a') })
    await page.setInputFiles('.thread .composer input[type=file]', [file('large.txt', 2 ** 20 + 1)])
    await page.waitForSelector('.thread .composer .error:has-text("large.txt"):has-text("at most 1 MB")')
    await page.setInputFiles('.thread .composer input[type=file]', [file('nothing.txt', 0)])
    await page.waitForSelector('.thread .composer .error:has-text("nothing.txt"):has-text("empty")')
    const eleven = Array.from({ length: 11 }, (_, index) => file(`${index}.txt`, 1))
    await page.setInputFiles('.thread .composer input[type=file]', eleven)
    await page.waitForSelector('.thread .composer .error:has-text("10 files"):has-text("7.txt")')
    await page.setInputFiles('.thread .composer input[type=file]', [{ ...file('odd.txt', 10), mimeType: 'nonsense' }])
    await page.waitForSelector('.thread .draft-files [data-status=failed] [role=alert]:has-text("type: must")')
    await page.click('.thread .draft-files [aria-label="Remove odd.txt"]')
    let isBroken = true
    await page.route(/\/api\/conversations\/[^/]+\/attachments/, async (route) => {
      if (isBroken) await route.abort('connectionreset')
      else await route.fetch()
    })
    await page.setInputFiles('.thread .composer input[type=file]', [file('small.txt', 10)])
    await page.waitForSelector('.thread .draft-files [data-status=failed] [role=alert]:has-text("small.txt")')
    isBroken = false
    await page.unrouteAll({ behavior: 'wait' })
    await page.click('.thread [aria-label="Send small.txt again"]')
    await page.waitForSelector('.thread .draft-files [data-status=ready]')
  })
})
