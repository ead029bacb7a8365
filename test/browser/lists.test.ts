import { expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { openStage, signInAsAda } from './people.ts'

/** Of each numbered list: the room for its markers, at the side where a line begins, less the width of its longest marker. */
const ROOM = `[...document.querySelectorAll('.thread .markdown ol')].map((list) => {
  const probe = document.createElement('span')
  probe.textContent = list.start + list.children.length - 1 + '.\\u00a0'
  list.lastElementChild.append(probe)
  const { width } = probe.getBoundingClientRect()
  probe.remove()
  return parseFloat(getComputedStyle(list).paddingInlineStart) - width
})`

it.skipIf(!hasBrowser)(
  'the numbers of lists of 1, 100 and 1,000 stand in the message, from right to left too',
  async () => {
    const stage = await openStage({})
    const { page, ada } = await signInAsAda(stage)
    const { conversation_id } = await stage.chat.conversations.create(ada, { title: 'Lists' })
    const { root_id } = await stage.chat.messages.postRoot(ada, conversation_id, { content: '1. one' })
    for (const content of ['99. one\n100. other', '999. one\n1000. other', '999999998. one\n999999999. other'])
      await stage.chat.messages.reply(ada, root_id, { content })
    await page.goto(`${stage.url}/#/c/${conversation_id}/t/${root_id}`)
    await page.waitForSelector('.thread .markdown ol >> nth=3')
    for (const direction of ['ltr', 'rtl']) {
      await page.evaluate(`document.documentElement.dir = '${direction}'`)
      const rooms = (await page.evaluate(ROOM)) as number[]
      expect(rooms).toHaveLength(4)
      for (const room of rooms) expect(room).toBeGreaterThanOrEqual(0)
    }
    expect(stage.problems).toEqual([])
  },
  120_000,
)
