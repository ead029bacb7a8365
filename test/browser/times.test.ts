import { expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { openDetails, openStage, signInAsAda } from './people.ts'

const DAY = 24 * 60 * 60 * 1000

it.skipIf(!hasBrowser).each([
  ['a day', DAY],
  ['a year', 366 * DAY],
])(
  'what was written %s ago has its date and its time of day; the sidebar only its date',
  async (_, age) => {
    const stage = await openStage({})
    const { chat } = stage
    const { page, ada } = await signInAsAda(stage)
    const { user } = await chat.users.create(ada, { username: 'grace', email: 'grace@example.org' })
    const grace = await chat.users.actor(user.id)
    const { conversation_id } = await chat.conversations.create(ada, { title: 'Engines' })
    await chat.participants.add(ada, conversation_id, { username: 'grace' })
    const { root_id } = await chat.messages.postRoot(grace, conversation_id, { content: 'Steam, @ada?' })
    await chat.pins.add(ada, root_id)
    await page.clock.setFixedTime(Date.now() + age)
    await page.goto(`${stage.url}/#/search?q=steam`)
    await page.reload()
    const timeOf = async (row: string) => {
      await page.waitForSelector(`${row} time`)
      return (await page.locator(`${row} time`).allTextContents())[0]
    }
    const withTime = /\d.*\d?\d:\d\d/
    expect(await timeOf('.found')).toMatch(withTime)
    expect(await timeOf('.conversations')).toMatch(/^[^:]*\d[^:]*$/)
    await page.click('.inbox-button')
    expect(await timeOf('.inbox.rows')).toMatch(withTime)
    await page.goto(`${stage.url}/#/c/${conversation_id}/t/${root_id}`)
    expect(await timeOf('.thread .message')).toMatch(/\d?\d:\d\d/)
    await openDetails(page, 'Pins')
    expect(await timeOf('.pins')).toMatch(withTime)
    expect(stage.problems).toEqual([])
  },
  120_000,
)
