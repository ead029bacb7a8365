import { describe, expect, it } from 'vitest'
import { hasBrowser, type Page } from '../support/browser.ts'
import { innerState } from '../support/service.ts'
import { look } from './looks.ts'
import { expectOne, openStage, signInAsAda } from './people.ts'

/** The texts that were found, and what is marked in them. */
async function found(page: Page): Promise<{ texts: string[]; marked: string[] }> {
  const [texts, marked] = await Promise.all(
    ['.found .excerpt', '.found mark'].map((selector) => page.locator(selector).allTextContents()),
  )
  return { texts: texts!, marked: marked! }
}

const chips = (page: Page) => page.locator('.chips .chip').allTextContents()

describe.skipIf(!hasBrowser)('the search page', () => {
  it('finds messages, is narrowed by typing and by choosing, and leads to the message in its thread', async () => {
    const stage = await openStage({})
    const { chat } = stage
    const { page, ada } = await signInAsAda(stage)
    const { user } = await chat.users.create(ada, {
      username: 'grace',
      email: 'grace@example.org',
      display_name: 'Grace Hopper',
    })
    const grace = await chat.users.actor(user.id)
    const { conversation_id: engines } = await chat.conversations.create(ada, { title: 'Engines' })
    const { conversation_id: tea } = await chat.conversations.create(ada, { title: 'Tea & cake' })
    for (const id of [engines, tea]) await chat.participants.add(ada, id, { username: 'grace' })
    const { root_id } = await chat.messages.postRoot(ada, engines, { content: 'The *steam* engine <b>whistles</b>' })
    for (let n = 0; n < 30; n++) await chat.messages.reply(ada, root_id, { content: `Filler ${n}` })
    const { message_id } = await chat.messages.reply(grace, root_id, {
      content: 'Full steam: https://example.org/a-long-address',
    })
    await chat.messages.postRoot(grace, tea, { content: 'A kettle makes steam' })

    await page.press('body', 'Control+k')
    await page.fill('[role=combobox]', 'steam')
    await page.waitForSelector('[role=option] mark')
    await page.click('dialog a:has-text("Search messages for “steam”")')
    await page.waitForSelector('.search [role=status]:text-is("3 messages")')
    expect(await found(page)).toEqual({
      texts: [
        'A kettle makes steam',
        'Full steam: https://example.org/a-long-address',
        'The steam engine <b>whistles</b>',
      ],
      marked: ['steam', 'steam', 'steam'],
    })
    await page.waitForSelector('.found .name:text-is("Grace Hopper")')
    await look(page, 'search')

    await page.fill('.search [type=search]', 'steam in:eng from:grace has:link')
    await page.press('.search [type=search]', 'Enter')
    await page.waitForSelector('.search [role=status]:text-is("1 message")')
    expect(await page.inputValue('.search [type=search]')).toBe('steam')
    expect(await chips(page)).toEqual(['In # Engines', 'From Grace Hopper', 'With a link'])
    await look(page, 'search-chips')
    expect(await page.locator('.search details[open]').allTextContents()).toEqual([])
    await page.click('.search summary')
    await page.waitForSelector('.search select')
    expect(
      await page.evaluate(
        `[...document.querySelectorAll('.search select')].map((each) => each.selectedOptions[0].text)`,
      ),
    ).toEqual(['Engines', 'Grace Hopper', 'a link'])
    await page.click('.chips button[aria-label="Search without: With a link"]')
    await page.waitForSelector('.search [role=status]:text-is("1 message")')
    expect(await chips(page)).toEqual(['In # Engines', 'From Grace Hopper'])
    expect(await page.evaluate(`document.activeElement.type`)).toBe('search')
    await page.selectOption('.search select:has(option[value="@ada"])', '@ada')
    await page.waitForSelector('.found .name:text-is("Ada Lovelace")')
    await page.selectOption('.search select:has(option[value="@ada"])', '')
    await page.fill('.search input[type=date] >> nth=1', '2001-01-01')
    await page.waitForSelector('.search [role=status]:text-is("No matches for “steam”.")')
    expect(await chips(page)).toEqual(['In # Engines', 'Before 1 Jan 2001'])
    await look(page, 'search-nothing')
    await page.reload()
    await page.waitForSelector('.search [role=status]:text-is("No matches for “steam”.")')
    await page.click('.search summary')
    await page.fill('.search input[type=date] >> nth=1', '')
    await page.click(`.found a[href$="${message_id}"]`)
    await expectOne(page, '.thread .messages > [data-target=true]:has-text("Full steam")')

    await page.goto(`${stage.url}/#/search`)
    await page.waitForSelector('.search .hint:has-text("Or type filters")')
    await look(page, 'search-empty')
    await page.fill('.search [type=search]', 'filler')
    await page.click('.search [type=submit]')
    await page.waitForSelector('.search [role=status]:text-is("The latest 20 messages")')
    await page.click('.search button:text-is("Search on")')
    await page.waitForSelector('.search [role=status]:text-is("30 messages")')
    await page.fill('.search [type=search]', 'filler topic:x from:"grace hopper"')
    await page.press('.search [type=search]', 'Enter')
    await page.waitForSelector('.search .hint:has-text("topic:")')
    // What names nothing is a word like others: only what became a chip narrows.
    await chat.messages.postRoot(ada, engines, { content: 'The train in nowhere' })
    await page.goto(`${stage.url}/#/search`)
    await page.fill('.search [type=search]', 'train in:nowhere')
    await page.press('.search [type=search]', 'Enter')
    await page.waitForSelector('.search .hint:has-text("in:nowhere")')
    await page.waitForSelector('.search [role=status]:text-is("1 message")')
    await page.press('body', 'Control+k')
    await page.fill('[role=combobox]', 'nowhere at all')
    await page.waitForSelector('dialog .quiet:text("No matches.")')
    await page.press('[role=combobox]', 'Enter')
    await page.waitForSelector('.search [role=status]:text-is("No matches for “nowhere at all”.")')
    expect(stage.problems).toEqual([])
  })

  it('takes filters as they are typed, and the last word before it is whole', async () => {
    const stage = await openStage({})
    const { chat } = stage
    const { page, ada } = await signInAsAda(stage)
    const { user } = await chat.users.create(ada, { username: 'grace', email: 'grace@example.org' })
    const { conversation_id } = await chat.conversations.create(ada, { title: 'Engines' })
    await chat.participants.add(ada, conversation_id, { username: 'grace' })
    await chat.messages.postRoot(await chat.users.actor(user.id), conversation_id, { content: 'A kettle makes steam' })
    await page.goto(`${stage.url}/#/search`)
    await page.reload()
    await page.waitForSelector('.search details:not([open])')
    for (const letter of 'from:grace stea') await page.press('.search [type=search]', letter === ' ' ? 'Space' : letter)
    await expect.poll(() => chips(page)).toEqual(['From grace'])
    expect(await page.inputValue('.search [type=search]')).toBe('stea')
    await page.press('.search [type=search]', 'Enter')
    await page.waitForSelector('.found mark:text-is("steam")')
    expect(stage.problems).toEqual([])
  })

  it('finds rooms and people beside the messages, and is narrowed to a room from there', async () => {
    const stage = await openStage({})
    const { chat } = stage
    const { page, ada } = await signInAsAda(stage)
    const { conversation_id } = await chat.conversations.create(ada, { title: 'Hops' })
    for (const [username, display_name] of [
      ['grace', 'Grace Hopper'],
      ['hopkins', 'Ann Hopkins'],
    ] as const) {
      await chat.users.create(ada, { username, email: `${username}@example.org`, display_name })
      await chat.participants.add(ada, conversation_id, { username })
    }
    const { root_id } = await chat.messages.postRoot(ada, conversation_id, { content: 'A **hop** in the garden' })
    await page.goto(`${stage.url}/#/c/${conversation_id}`)
    await page.click('.conversation a[aria-label="Search here"]')
    await page.waitForSelector('.chips .chip:has-text("In # Hops")')
    await page.waitForSelector('.search [role=status]:text-is("1 message")')
    await page.fill('.search [type=search]', 'hop')
    await page.press('.search [type=search]', 'Enter')
    await page.waitForSelector('.found mark:text-is("hop")')
    expect(await page.locator('[aria-label="Rooms and people"] .name').allTextContents()).toEqual([])
    await page.click('.chips button')
    await expect
      .poll(() => page.locator('[aria-label="Rooms and people"] .name').allTextContents())
      .toEqual(['Hops', 'Grace Hopper', 'Ann Hopkins'])
    expect(await found(page)).toEqual({ texts: ['A hop in the garden'], marked: ['hop'] })
    await look(page, 'search-places')
    await page.click('.found a')
    await expect.poll(() => page.evaluate('location.hash')).toBe(`#/c/${conversation_id}/m/${root_id}`)
    await page.evaluate('history.back()')
    await page.click('button:has-text("Grace Hopper")')
    await page.waitForSelector('#conversation-title:text-is("Grace Hopper")')
    expect(stage.problems).toEqual([])
  })

  it('goes on by itself while the service returns parts of a long search', async () => {
    const stage = await openStage({}, { search: { budget_ms: 50 } })
    const { page, ada } = await signInAsAda(stage)
    const { conversation_id } = await stage.chat.conversations.create(ada, { title: 'Engines' })
    await stage.chat.messages.postRoot(ada, conversation_id, { content: 'A kettle makes steam' })
    // Searches of this user run already: a further one waits for its turn until its time is over.
    const { search } = innerState(stage)
    const turns = [await search.acquire(ada.user_id, 0), await search.acquire(ada.user_id, 0)]
    const asked = async () =>
      Number(
        await page.evaluate(
          `performance.getEntriesByType('resource').filter(({ name }) => name.includes('/api/search')).length`,
        ),
      )
    await page.goto(`${stage.url}/#/search?q=steam`)
    await page.waitForSelector('.search button:text-is("Loading…")')
    await page.waitForSelector('.search [role=status]:text-is("Searching…")')
    const before = await asked()
    for (const end of turns) end!()
    await page.waitForSelector('.search [role=status]:text-is("1 message")')
    await expectOne(page, '.found .excerpt:has-text("A kettle makes steam")')
    // How often, depends on the time that the service takes.
    expect(await asked()).toBeGreaterThan(before)
    expect(stage.problems).toEqual([])
  })
})
