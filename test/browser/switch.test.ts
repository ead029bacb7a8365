import { describe, expect, it } from 'vitest'
import { OPERATOR } from '../../lib/core/actor.ts'
import { hasBrowser, type Page } from '../support/browser.ts'
import { look } from './looks.ts'
import { closeDetails, expectOne, openStage, signInAsAda } from './people.ts'

/** The names that are offered, the chosen one in brackets. */
function offered(page: Page): Promise<unknown> {
  return page.evaluate(`[...document.querySelectorAll('[role=option]')].map((option) => {
    const name = option.querySelector('.name').textContent
    const { ariaActiveDescendantElement: active } = document.activeElement
    return option.ariaSelected === 'true' && active === option ? '[' + name + ']' : name
  })`)
}

describe.skipIf(!hasBrowser)('the switcher', () => {
  it('finds conversations and people by typing, and opens them with the keys', async () => {
    const stage = await openStage({})
    const { page, ada } = await signInAsAda(stage)
    const { chat } = stage
    const long = `Grüße ${'Donaudampfschifffahrtsgesellschaft'.repeat(3)}`
    for (const title of ['Engines', 'Steam engines', 'Difference', long])
      await chat.conversations.create(ada, { title })
    const created = await chat.users.create(ada, {
      username: 'grace',
      email: 'grace@example.org',
      display_name: 'Grace Hopper',
    })
    await chat.users.create(ada, { username: 'greta', email: 'greta@example.org' })
    // A member is offered to write to those of shared conversations, an administrator to everybody.
    await chat.users.create(ada, { username: 'root', email: 'root@example.org', roles: ['admin'] })
    await chat.users.change(OPERATOR, ada.user_id, { roles: ['member'] })
    const { conversation_id } = await chat.conversations.create(ada, { title: 'Shared' })
    await chat.participants.add(ada, conversation_id, { username: 'grace' })
    const { conversation } = await chat.conversations.direct(ada, { user_id: created.user.id })
    await page.waitForSelector('.conversations a:has-text("Grace Hopper")')

    await page.press('body', 'Control+k')
    await page.waitForSelector('dialog [role=option]')
    await look(page, 'switcher-latest')
    await page.fill('[role=combobox]', 'engine')
    expect(await offered(page)).toEqual(['[Engines]', 'Steam engines'])
    await page.press('[role=combobox]', 'ArrowDown')
    expect(await offered(page)).toEqual(['Engines', '[Steam engines]'])
    await page.press('[role=combobox]', 'ArrowDown')
    await page.press('[role=combobox]', 'ArrowUp')
    await page.press('[role=combobox]', 'Enter')
    await page.waitForSelector('.conversation h2:text-is("Steam engines")')

    await page.press('body', 'Control+k')
    await page.fill('[role=combobox]', 'gr')
    await page.waitForSelector('[role=option]:has-text("Grüße")')
    expect(await offered(page)).toEqual(['[Grace Hopper]', long])
    await look(page, 'switcher')
    await page.press('[role=combobox]', 'Enter')
    await page.waitForSelector('.conversation h2:text-is("Grace Hopper")')
    expect(page.url()).toContain(conversation.id)

    // Nobody is offered to write to who shares no conversation.
    await page.click('.sidebar [aria-keyshortcuts]')
    await page.fill('[role=combobox]', 'gre')
    await page.waitForSelector('dialog .quiet:text("No matches.")')
    await chat.participants.add(ada, conversation_id, { username: 'greta' })
    await page.fill('[role=combobox]', 'gret')
    await page.waitForSelector('[role=option]:has-text("greta")')
    await page.press('[role=combobox]', 'Enter')
    await page.waitForSelector('.conversation h2:text-is("greta")')
    await expectOne(page, '.conversations a:has-text("greta")')

    await page.press('body', 'Control+k')
    await page.fill('[role=combobox]', 'nobody at all')
    await page.waitForSelector('dialog .quiet:text("No matches.")')
    const { root_id } = await chat.messages.postRoot(ada, conversation_id, { content: 'The boiler' })
    const { message_id } = await chat.messages.reply(ada, root_id, { content: 'It whistles, then it hisses.' })
    await page.fill('[role=combobox]', 'whistles hisses')
    await page.waitForSelector('[role=option] mark:text("whistles")')
    expect(await offered(page)).toEqual(['[It whistles, then it hisses.]'])
    await expectOne(page, '[role=option] small:text-is("Shared")')
    await look(page, 'switcher-message')
    await page.press('[role=combobox]', 'Enter')
    await page.waitForSelector('.conversation h2:text-is("Shared")')
    expect(page.url()).toContain(`/t/${root_id}/m/${message_id}`)
    await page.press('body', 'Control+k')
    await page.press('[role=combobox]', 'Escape')
    await page.waitForSelector('dialog', { state: 'detached' })
    expect(stage.problems).toEqual([])
  })

  it('finds people by any word of their names: here, for a direct message, to add them and to mention them', async () => {
    const stage = await openStage({})
    const { page, ada } = await signInAsAda(stage)
    const { chat } = stage
    const { conversation_id } = await chat.conversations.create(ada, { title: 'Shared' })
    const people = [
      ['paul', 'Paul von Höhenheim'],
      ['augusta', 'Augusta Lovell'],
    ] as const
    for (const [username, display_name] of people)
      await chat.users.create(ada, { username, email: `${username}@example.org`, display_name })
    await page.goto(`${stage.url}/#/c/${conversation_id}`)
    await page.click('.people-button')
    await page.fill('.details [name=who]', 'hohen')
    await page.click('.details .choices button:has-text("Paul von Höhenheim")')
    await page.waitForSelector('.participants li:has-text("Paul von Höhenheim")')
    await page.fill('.details [name=who]', 'Love')
    await page.waitForSelector('.details .choices button:has-text("Augusta Lovell")')
    await look(page, 'add-person')
    await page.press('.details [name=who]', 'Enter')
    await page.waitForSelector('.participants li:has-text("Augusta Lovell")')
    await closeDetails(page)

    for (const [typed, name] of [
      ['hohen', 'Paul von Höhenheim'],
      ['Love', 'Augusta Lovell'],
    ] as const) {
      await page.press('body', 'Control+k')
      await page.fill('[role=combobox]', typed)
      await page.waitForSelector(`[role=option]:has-text("${name}")`)
      await page.press('[role=combobox]', 'Escape')
      await page.click('[aria-label="New direct message"]')
      await page.fill('dialog [type=search]', typed)
      await page.waitForSelector(`dialog .choices button:has-text("Write to ${name}")`)
      await page.press('dialog', 'Escape')
      await page.fill('.composer textarea', '')
      await page.press('.composer textarea', 'End')
      await page.keyboard.type(`@${typed}`)
      await page.waitForSelector(`[role=option]:has-text("${name}")`)
    }
    expect(stage.problems).toEqual([])
  })

  it('finds people to mention in a room with more of them than are read at once', async () => {
    const stage = await openStage({})
    const { page, ada } = await signInAsAda(stage)
    const { chat } = stage
    const { conversation_id } = await chat.conversations.create(ada, { title: 'Shared' })
    const join = async (username: string, display_name: string) => {
      const { user } = await chat.users.create(ada, { username, email: `${username}@example.org`, display_name })
      await chat.participants.add(ada, conversation_id, { user_id: user.id })
    }
    for (let n = 0; n < 1000; n++) await join(`user${n}`, `User ${n}`)
    await join('zoe', 'Zoe Lovell')
    await page.goto(`${stage.url}/#/c/${conversation_id}`)
    await page.click('.conversation .composer textarea')
    await expect
      .poll(async () => {
        await page.fill('.composer textarea', '')
        await page.keyboard.type('@user99')
        return page.locator('[role=option]').allTextContents()
      })
      .not.toEqual([])
    await page.fill('.composer textarea', '')
    await page.keyboard.type('@lov')
    await page.waitForSelector('[role=option]:has-text("Zoe Lovell")')
    await page.press('.composer textarea', 'Enter')
    expect(await page.inputValue('.composer textarea')).toBe('@zoe ')
    expect(stage.problems).toEqual([])
  }, 240_000)

  it('takes no focus back that is elsewhere by the time it is gone', async () => {
    const stage = await openStage({})
    const { page, ada } = await signInAsAda(stage)
    const { conversation_id } = await stage.chat.conversations.create(ada, { title: 'Shared' })
    await page.goto(`${stage.url}/#/c/${conversation_id}`)
    await page.waitForSelector('.composer textarea')
    await page.click('.sidebar [aria-keyshortcuts]')
    await page.waitForSelector('dialog [role=combobox]')
    // As Escape and a click at once: the browser says later that it has closed the dialog.
    await page.evaluate(
      `document.querySelector('dialog').close(), document.querySelector('.composer textarea').focus()`,
    )
    await page.waitForSelector('dialog', { state: 'detached' })
    expect(await page.evaluate(`document.activeElement === document.querySelector('.composer textarea')`)).toBe(true)
    expect(stage.problems).toEqual([])
  })
})
