import { describe, expect, it } from 'vitest'
import { createPuppet } from '../support/assistant.ts'
import { hasBrowser, type Page } from '../support/browser.ts'
import { look } from './looks.ts'
import { address, openStage, signInAsAda, write } from './people.ts'

/** The files of the colors that the page has loaded. */
const LOADED = `performance.getEntriesByType('resource').filter(({ name }) => /highlight-\\w+\\.js$/.test(name)).length`

/** Notes whether colored code was ever shown plain again. */
const WATCH = `{
  window.wentPlain = 0
  const code = document.querySelector('.message[data-role=assistant] pre code')
  window.first = code.querySelector('.hljs-keyword')
  new MutationObserver(() => { if (!code.querySelector('.hljs-keyword')) wentPlain++ })
    .observe(code, { childList: true, subtree: true, characterData: true })
}`

/** The classes of the parts of the last block. */
function partsOf(page: Page): Promise<unknown> {
  return page.evaluate(`[...[...document.querySelectorAll('pre code')].at(-1).querySelectorAll('span')]
    .map((part) => part.className + ' ' + part.textContent)`)
}

describe.skipIf(!hasBrowser)('code in the web chat', () => {
  it('gets its colors from a file that is loaded with the first block, and keeps them while an answer grows', async () => {
    const puppet = createPuppet()
    const stage = await openStage({ assistant: puppet.assistant })
    const { page, ada } = await signInAsAda(stage)
    const { conversation_id } = await stage.chat.conversations.create(ada, { title: 'Engines' })
    const { root_id } = await stage.chat.messages.postRoot(ada, conversation_id, {
      content: 'Neither `inline code` nor\n\n```\na block without a language\n```\nneeds it',
    })
    await page.goto(`${stage.url}/#/c/${conversation_id}/t/${root_id}`)
    await page.waitForSelector('.thread pre')
    await address(page, 'thread', 'Assistant')
    await write(page, 'thread', 'Show it')
    const answer = await puppet.asked()
    expect(await page.evaluate(LOADED)).toBe(0)

    answer.say('It is:\n\n```js\n// the engine\nconst turns = 3')
    await page.waitForSelector('.message[data-role=assistant] .hljs-keyword:text-is("const")')
    expect(await page.evaluate(LOADED)).toBe(1)
    await page.evaluate(WATCH)
    for (const text of ['\nfunction crank(', 'name) {\n  return "', 'turns" + name', '\n}\n']) answer.say(text)
    await page.waitForSelector('pre .hljs-title:text-is("crank")')
    await page.waitForSelector('pre .hljs-string:text-is("\\"turns\\"")')
    answer.say('```\n\nand\n\n```diff\n- old\n+ new\n```\n\n```brainf\n<b onclick="x">+</b>\n```')
    answer.end()
    await page.waitForSelector('[aria-label=Stop]', { state: 'detached' })
    await page.waitForSelector('pre .hljs-deletion:text-is("- old")')
    expect(await page.evaluate('[wentPlain, first.isConnected]')).toEqual([0, true])
    expect(await partsOf(page)).toEqual([])
    expect(await page.locator('pre code').allTextContents()).toContain('<b onclick="x">+</b>')
    expect(stage.problems).toEqual([])
  })

  it('has enough contrast in each language, light, dark and in high contrast', async () => {
    const stage = await openStage({})
    const { page, ada } = await signInAsAda(stage)
    const { conversation_id } = await stage.chat.conversations.create(ada, { title: 'Languages' })
    const blocks = [
      "ts\n@sealed class A<T> { #x: number = 0x1f; get(a?: RegExp) { return /a+/g.test('a') && null } }",
      'py\n@cache\ndef f(n: int) -> str:\n    """Doc."""\n    return f"{n!r}" if n else None  # yes',
      'css\n@media print { a.b#c[href^="x"]:hover { color: #fff; margin: 1px !important } }',
      'html\n<!doctype html><a href="x" hidden>&amp;</a><!-- comment -->',
      "sql\nSELECT count(*) FROM messages WHERE id = 1 AND text LIKE '%a' -- all",
      'sh\nfor f in "$@"; do echo $f >> out; done # each',
      'yaml\n- &a key: [1, true, "x"]',
      'diff\n@@ -1 +1 @@\n-old\n+new',
      'c\n#include <stdio.h>\nint main(void) { return puts("a\\n"); }',
      'md\n# Title\n> quote [link](x) `code` **strong**',
    ]
    const { root_id } = await stage.chat.messages.postRoot(ada, conversation_id, {
      content: blocks.map((block) => `\`\`\`${block}\n\`\`\``).join('\n'),
    })
    await page.goto(`${stage.url}/#/c/${conversation_id}/t/${root_id}`)
    await page.waitForSelector('pre .hljs-keyword')
    // One block after the other gets its colors.
    await expect
      .poll(() =>
        page.evaluate(`[...document.querySelectorAll('pre code')].filter((code) => code.children.length === 0).length`),
      )
      .toBe(0)
    await look(page, 'code')
    await page.emulateMedia({ colorScheme: 'dark' })
    await look(page, 'code-dark')
    await page.emulateMedia({ colorScheme: 'dark', contrast: 'more' })
    await look(page, 'code-dark-contrast')
    await page.emulateMedia({ colorScheme: 'light', contrast: 'more' })
    await look(page, 'code-contrast')
    expect(stage.problems).toEqual([])
  })
})
