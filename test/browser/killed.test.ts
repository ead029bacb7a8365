import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { folder, start } from '../cli/process.ts'
import { hasBrowser, openBrowser, type Page } from '../support/browser.ts'
import { expectOne, textsOf, write } from './people.ts'
import { openTalk } from './talk.ts'

const env = { CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4', CHAT_DATABASE__URL: 'sqlite:chat.db' }

/** Starts `chat-server serve`. @returns the process and its address */
async function serve(cwd: string, port: string): Promise<{ child: ChildProcess; url: string }> {
  const child = start(['serve', '--port', port], { cwd, env })
  const [greeting] = await once(child.stdout, 'data')
  return { child, url: /http:\/\/[^\s"]+:\d+/.exec(String(greeting))![0] }
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

/** The banner of a lost connection. */
function banner(page: Page, isShown: boolean): Promise<unknown> {
  return page.waitForSelector(`.banner[data-shown=${isShown}]`, { state: 'attached' })
}

describe.skipIf(!hasBrowser)('the web chat, when the service is killed', () => {
  it('has a post once that was on its way, whether it was stored or not, and goes on', async () => {
    const cwd = folder()
    let { child, url } = await serve(cwd, '0')
    const { port } = new URL(url)
    const { ada, signIn, conversation_id } = await openTalk(url)
    const { message: root } = await ada.messages.postRoot(conversation_id, { content: 'Begin' })
    const page = await (await (await openBrowser()).newContext()).newPage()
    await page.goto(url)
    await signIn(page, 'grace')
    await page.goto(`${url}/#/c/${conversation_id}/t/${root.id}`)
    await write(page, 'thread', 'Before')
    await page.waitForSelector('.message:has-text("Before"):not([data-pending])')
    await banner(page, false)

    // The request arrives, but the service does nothing any more.
    child.kill('SIGSTOP')
    await write(page, 'thread', 'Never read')
    await page.waitForSelector('.message[data-pending]:has-text("Never read")')
    await kill(child)
    await page.waitForSelector('.banner:has-text("Can’t reach Chat."):has-text("Retrying")')
    ;({ child, url } = await serve(cwd, port))
    await page.waitForSelector('.message:has-text("Never read"):not([data-pending])')
    await banner(page, false)

    // The post is stored, but its response is lost.
    await page.route(/\/reply$/, async (route) => {
      // The page may send it again before the service is back.
      const isStored = await route.fetch().then(
        () => true,
        () => false,
      )
      if (isStored) await kill(child)
      await route.abort('connectionreset')
    })
    await write(page, 'thread', 'Stored')
    await banner(page, true)
    // Not before the handlers have ended.
    await page.unrouteAll({ behavior: 'wait' })
    ;({ child, url } = await serve(cwd, port))
    await page.waitForSelector('.message:has-text("Stored"):not([data-pending])')
    await banner(page, false)

    await ada.messages.reply(root.id, { content: 'After' })
    await expectOne(page, '.message:has-text("After")')
    const all = ['Begin', 'Before', 'Never read', 'Stored', 'After']
    expect(await textsOf(page)).toEqual(all)
    expect((await ada.threads.tree(root.id)).messages.map(({ content }) => content)).toEqual(all)
    expect(await page.evaluate(`Object.keys(localStorage).filter((key) => key.startsWith('chat:unsent:'))`)).toEqual([])
  })
})
