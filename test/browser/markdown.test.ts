import { describe, expect, it } from 'vitest'
import { createPuppet } from '../support/assistant.ts'
import { type ContextOptions, hasBrowser, type Page } from '../support/browser.ts'
import { HOSTILE_CODES, HOSTILE_TEXTS } from '../web-chat/markdown/hostile-texts.ts'
import { address, choose, openStage, type Stage, signInAsAda, write } from './people.ts'

/** However slow the machine is: what these texts once took was minutes, or the whole tab. */
const MAX_TASK_MS = 20_000

/** Notes the longest time for which the page did not respond. */
const WATCH = `{
  window.longest = 0
  new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) longest = Math.max(longest, duration) })
    .observe({ type: 'longtask', buffered: true })
}`

interface Thread {
  page: Page
  /** Opens another thread. */
  open(contents: readonly string[]): Promise<void>
}

/** Opens a thread with texts as its messages. */
async function openTexts(
  stage: Stage,
  contents: readonly string[],
  script = WATCH,
  device: ContextOptions = {},
): Promise<Thread> {
  const { page, ada } = await signInAsAda(stage, device)
  const { conversation_id } = await stage.chat.conversations.create(ada, { title: 'Texts' })
  const open = async (texts: readonly string[]) => {
    const { root_id } = await stage.chat.messages.postRoot(ada, conversation_id, { content: 'The first one' })
    for (const content of texts) await stage.chat.messages.reply(ada, root_id, { content })
    await page.goto(`${stage.url}/#/c/${conversation_id}/t/${root_id}`)
  }
  await page.addInitScript(script)
  await open(contents)
  // Another address of the same page loads nothing, and runs no script.
  await page.reload()
  await page.waitForSelector('.thread .message .markdown')
  return { page, open }
}

function countOf(page: Page, selector: string): Promise<unknown> {
  return page.evaluate(`document.querySelectorAll(${JSON.stringify(selector)}).length`)
}

describe.skipIf(!hasBrowser)('Markdown in the web chat', () => {
  it('shows texts that were made to stop it, and responds meanwhile', async () => {
    const stage = await openStage({})
    const texts = [...HOSTILE_TEXTS.values()].filter((text) => text.trim() !== '')
    const { page, open } = await openTexts(stage, [])
    // No more than a page of the list has.
    for (let from = 0; from < texts.length; from += 7) {
      const some = texts.slice(from, from + 7)
      await open(some)
      await expect.poll(() => countOf(page, '.thread .message')).toBe(some.length + 1)
      // A text for which a frame has no time is shown as it was typed, until another one has.
      await expect.poll(() => countOf(page, '.thread .message .markdown.plain')).toBe(0)
    }
    await write(page, 'thread', 'It *responds*')
    await page.waitForSelector('.thread .message em:text-is("responds")')
    expect(Number(await page.evaluate('longest'))).toBeLessThan(MAX_TASK_MS)
    expect(stage.problems).toEqual([])
  }, 120_000)

  it('keeps half of the width of a phone for the text in quotes and lists, however deep they are', async () => {
    const stage = await openStage({})
    const device = { viewport: { width: 360, height: 740 } }
    const { page } = await openTexts(stage, [`${'> '.repeat(16)}deep`, `${'> - '.repeat(5)}deep`], WATCH, device)
    const widths = (await page.evaluate(`[...document.querySelectorAll('.thread .markdown')].slice(1).map((message) => {
      const innermost = [...message.querySelectorAll('blockquote, li')].at(-1)
      return innermost.clientWidth / message.clientWidth
    })`)) as number[]
    expect(widths).toHaveLength(2)
    for (const width of widths) expect(width).toBeGreaterThan(0.5)
    expect(stage.problems).toEqual([])
  })

  it('shows code plain whose colors take too long to find, and others in colors again', async () => {
    const stage = await openStage({})
    const codes = HOSTILE_CODES.map(([language, code]) => `\`\`\`${language}\n${code}\n\`\`\``)
    const { page } = await openTexts(stage, [...codes.slice(0, 2), '```js\nconst harmless = 1\n```'])
    await page.waitForSelector('.thread pre .hljs-keyword:text-is("const")')
    expect(await countOf(page, '.thread pre code')).toBe(3)
    expect(Number(await page.evaluate('longest'))).toBeLessThan(MAX_TASK_MS)
    expect(stage.problems).toEqual([])
  }, 120_000)

  it('shows code plain where no worker may be started', async () => {
    const stage = await openStage({})
    const { page } = await openTexts(
      stage,
      ['```js\nconst a = 1\n```'],
      'window.Worker = class { constructor() { throw new TypeError() } }',
    )
    await page.waitForSelector('.thread pre code:text-is("const a = 1")')
    expect(await countOf(page, '.thread pre code span')).toBe(0)
    expect(stage.problems).toEqual([])
  })

  it('shows a message as it was typed that cannot be rendered, and all others and its menu as ever', async () => {
    const stage = await openStage({})
    const { page } = await openTexts(
      stage,
      ['broken\n\n---', '*whole*'],
      // No browser does that: it stands for what nobody has thought of.
      `for (const name of ['createElement', 'createElementNS']) {
         const create = Document.prototype[name]
         Document.prototype[name] = function (...names) {
           if (names.includes('hr')) throw new RangeError('made for a test')
           return create.apply(this, names)
         }
       }`,
    )
    await page.waitForSelector('.thread .message em:text-is("whole")')
    expect(await page.locator('.thread .message .markdown.plain').allTextContents()).toEqual(['broken\n\n---'])
    await choose(page, 'broken', 'Pin')
    await page.waitForSelector('.message:has-text("broken") .tag:has-text("Pinned")')
    expect(stage.problems.every((problem) => problem.includes('made for a test'))).toBe(true)
  })

  it('shows numbers of lists, the host of a link that names another, and links whose definition comes while an answer grows', async () => {
    const puppet = createPuppet()
    const stage = await openStage({ assistant: puppet.assistant })
    const { page } = await openTexts(stage, [
      '0. zero\n1. one',
      '![a *red* car](https://car.example/)',
      '[**bank**.example](https://evil.example/)',
    ])
    expect(await page.evaluate(`document.querySelector('.thread .markdown ol').start`)).toBe(0)
    await page.waitForSelector('.thread a:text-is("a red car")')
    await page.waitForSelector('.thread a:has(strong:text-is("bank")) small bdi:text-is("evil.example")')
    await address(page, 'thread', 'Assistant')
    await write(page, 'thread', 'Where is it?')
    const answer = await puppet.asked()
    answer.say('It is [here][1].\n\nThere is more.\n\n')
    await page.waitForSelector('.message[data-role=assistant] p:text-is("There is more.")')
    expect(await countOf(page, '.message[data-role=assistant] a')).toBe(0)
    answer.say('[1]: https://one.example/\n')
    await page.waitForSelector('.message[data-role=assistant] a[href="https://one.example/"]:text-is("here")')
    answer.end()
    expect(stage.problems).toEqual([])
  })
})
