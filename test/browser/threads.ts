import type { Page } from '../support/browser.ts'
import { openStage } from './people.ts'
import { openTalk } from './talk.ts'

/** For a machine that is busy. */
export const POLL = { timeout: 60_000 }

/** What scrolls in the pane of a thread. */
export const SCROLLER = `document.querySelector('.thread .scroll')`

/** How far the end of the thread is below what is shown, in pixels. */
export const below = (page: Page) =>
  page.evaluate(`(() => {
    const { scrollHeight, scrollTop, clientHeight } = ${SCROLLER}
    return scrollHeight - scrollTop - clientHeight
  })()`) as Promise<number>

/** How many messages of the thread are rendered. */
export const countOf = (page: Page) =>
  page.evaluate(`document.querySelectorAll('.thread .messages > li').length`) as Promise<number>

/** The id of the message with the focus. */
export const focused = (page: Page) => page.evaluate(`document.activeElement?.dataset.messageId`)

/** Keeps requests of the page back. @returns a function that lets them go their way */
export async function hold(page: Page, url: RegExp): Promise<() => void> {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route(url, async (route) => {
    await released
    await route.continue()
  })
  return release
}

/** Posts, and waits until the own post is in view. */
export const postIn = (page: Page, text: string) =>
  page.evaluate(`new Promise((resolve) => {
    const field = document.querySelector('.thread .composer textarea')
    Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set.call(field, ${JSON.stringify(text)})
    field.dispatchEvent(new InputEvent('input', { bubbles: true }))
    requestAnimationFrame(() => {
      field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }))
      const look = () => {
        const rows = [...document.querySelectorAll('.thread .messages > li')]
        const row = rows.find((each) => each.textContent.includes(${JSON.stringify(text)}))
        const [end, view] = [row?.getBoundingClientRect().bottom, ${SCROLLER}.getBoundingClientRect()]
        if (row && end <= view.bottom + 1 && end > view.top) resolve()
        else requestAnimationFrame(look)
      }
      look()
    })
  })`)

/** Ada has begun a thread, in which Grace has replied; Ada looks at it. */
export async function openThread(count: number) {
  const stage = await openStage({})
  const talk = await openTalk(stage.url)
  const { ada, grace, conversation_id } = talk
  const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'Does it run?' })
  const ids: string[] = []
  const reply = async (parent_id: string, content: string) =>
    (await grace.messages.reply(parent_id, { content })).message.id
  for (const each of Array(count).keys()) ids.push(await reply(root_id, `Reply ${each}.`))
  const { page } = await stage.visit(stage.url)
  await talk.signIn(page, 'ada')
  const open = async (address = '') => {
    await page.goto(`${stage.url}/#/c/${conversation_id}/t/${root_id}${address}`)
    await page.waitForSelector('.thread .stream[data-open=true]')
  }
  const unread = async () => {
    const { threads } = await ada.threads.unread(conversation_id, {})
    return threads.find((each) => each.root_id === root_id)?.unread ?? 0
  }
  return { ...stage, ...talk, page, root_id, ids, reply, open, unread }
}
