import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { hasBrowser, type Page } from '../support/browser.ts'
import { look, lookInModes } from './looks.ts'
import { openStage } from './people.ts'
import { openTalk } from './talk.ts'

const BOX = '.conversation .composer textarea'
const TIMEOUT = { timeout: 30_000 }

async function openRoom(config = {}) {
  const stage = await openStage({}, config)
  const talk = await openTalk(stage.url)
  const { page } = await stage.visit(stage.url)
  await talk.signIn(page, 'ada')
  await page.goto(`${stage.url}/#/c/${talk.conversation_id}`)
  await page.waitForSelector(BOX)
  return { ...stage, ...talk, page }
}

/** Selects a part of what is in the box. */
const select = (page: Page, start: number, end: number) =>
  page.evaluate(`{
    const field = document.querySelector('${BOX}')
    field.focus()
    field.setSelectionRange(${start}, ${end})
  }`)

const paste = (page: Page, html: string, plain: string) =>
  page.evaluate(`{
    const data = new DataTransfer()
    if (${JSON.stringify(html)}) data.setData('text/html', ${JSON.stringify(html)})
    data.setData('text/plain', ${JSON.stringify(plain)})
    const init = { bubbles: true, cancelable: true, clipboardData: data }
    document.querySelector('${BOX}').dispatchEvent(new ClipboardEvent('paste', init))
  }`)

const expectText = (page: Page, text: string) => expect.poll(() => page.inputValue(BOX), TIMEOUT).toBe(text)

describe.skipIf(!hasBrowser)('the box of the web chat', () => {
  it('formats by keys and by buttons behind Aa, what can be undone, and goes on with lists', async () => {
    const { page, problems } = await openRoom()
    await page.fill(BOX, 'It runs')
    for (const [keys, text] of [
      ['Control+b', 'It **runs**'],
      ['Control+i', 'It **_runs_**'],
      ['Control+i', 'It **runs**'],
      ['Control+e', 'It **`runs`**'],
      ['Control+z', 'It **runs**'],
      ['Control+b', 'It runs'],
      ['Control+Shift+x', 'It ~~runs~~'],
    ] as const) {
      if (!keys.endsWith('z')) {
        const value = await page.inputValue(BOX)
        const at = value.indexOf('runs')
        await select(page, at, at + 4)
      }
      await page.press(BOX, keys)
      await expectText(page, text)
    }

    await page.fill(BOX, 'one')
    await page.press('.conversation [aria-label=Formatting]', 'Enter')
    await page.waitForSelector('[role=toolbar] [aria-label=Quote]')
    await look(page, 'formatting')
    await lookInModes(page, 'formatting')
    await page.press('[role=toolbar] [aria-label=List]', 'Enter')
    await expectText(page, '- one')
    await page.press(BOX, 'Shift+Enter')
    await expectText(page, '- one\n- ')
    await page.keyboard.type('two')
    await page.press(BOX, 'Shift+Enter')
    await expectText(page, '- one\n- two\n- ')
    await page.press(BOX, 'Shift+Enter')
    await expectText(page, '- one\n- two\n')
    await page.press(BOX, 'Enter')
    await page.waitForSelector('.message:not([data-pending]) li:text-is("two")')
    expect(problems).toEqual([])
  })

  it('takes formatted text as Markdown, a URL on a selection as a link, and all else as it is', async () => {
    const { page, problems } = await openRoom()
    const html = `<meta><b style="font-weight:normal"><h2>Engines</h2><p>It <b>runs </b>and <a href="https://a.example/x">more</a>,
      <a href="javascript:alert(1)">not</a> <span style="font-weight:700">this</span><br>next</p>
      <ul><li>one<ul><li>deep</li></ul></li><li><em>two</em></li></ul><ol><li>first</li></ol>
      <pre>a\n b</pre><blockquote><p>said</p></blockquote><table><tr><td>1</td><td>2</td></tr></table><script>no()</script></b>`
    await paste(page, html, 'plain')
    await expectText(
      page,
      [
        '## Engines\n',
        'It **runs** and [more](https://a.example/x), not **this**\nnext\n',
        '- one\n  - deep\n- _two_\n',
        '1. first\n',
        '```\na\n b\n```\n',
        '> said\n',
        '1 | 2',
      ].join('\n'),
    )
    await page.fill(BOX, 'See the plan')
    await select(page, 4, 12)
    await paste(page, '', 'https://b.example/plan')
    await expectText(page, 'See [the plan](https://b.example/plan)')
    expect(problems).toEqual([])
  })

  it('offers to send a text that is too long as a file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'chat-web-long-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const { page, ada, conversation_id, problems } = await openRoom({
      attachments: { enabled: true, storage: `fs:${folder}` },
      limits: { message_bytes: 1024 },
    })
    await page.fill(BOX, 'long '.repeat(300))
    await page.waitForSelector('.composer .error:has-text("476 bytes too long.")')
    await look(page, 'too-long')
    await page.press('.composer button:text-is("Send as a file")', 'Enter')
    await page.waitForSelector('.draft-files [data-status=ready]:has-text("message.md")')
    expect(await page.inputValue(BOX)).toBe('')
    await page.press(BOX, 'Enter')
    await page.waitForSelector('.message:not([data-pending]) .files')
    const { messages } = await ada.messages.list(conversation_id, {})
    expect(messages[0]!.attachments?.map(({ name, size }) => [name, size])).toEqual([['message.md', 1500]])
    expect(problems).toEqual([])
  })
})
