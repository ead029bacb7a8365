import { expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { openStage, write } from './people.ts'
import { openTalk } from './talk.ts'

/** What browsers do to a page that may store nothing: some of a frame of another site, some by the choice of the user. */
const BLOCK = `(() => {
  const refuse = () => { throw new DOMException('The page may store nothing.', 'SecurityError') }
  const reject = async () => refuse()
  for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name, { get: refuse })
  IDBFactory.prototype.open = refuse
  Object.assign(LockManager.prototype, { request: reject, query: reject })
  ServiceWorkerContainer.prototype.register = reject
})()`

it.skipIf(!hasBrowser)(
  'the page works for the visit where the browser stores nothing: with a session, and from sign-in to sign-out',
  async () => {
    const { url, visit, problems } = await openStage({})
    const { signIn, conversation_id, ada } = await openTalk(url)
    const { page } = await visit(url)
    await signIn(page, 'grace')
    await page.addInitScript(BLOCK)
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.reload()
    await write(page, 'conversation', 'With a session')
    await page.waitForSelector('.message:has-text("With a session"):not([data-pending])')
    await page.click('.sidebar > header .menu > button')
    await page.click('.sidebar .panel button:text-is("Sign out")')
    await page.waitForSelector('[name=email]')
    await signIn(page, 'ada')
    await write(page, 'conversation', 'For the visit')
    await page.waitForSelector('.message:has-text("For the visit"):not([data-pending])')
    const { messages } = await ada.messages.list(conversation_id)
    expect(messages.map(({ content }) => content)).toEqual(['With a session', 'For the visit'])
    expect(problems).toEqual([])
  },
  120_000,
)
