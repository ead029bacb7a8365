import { describe, expect, it } from 'vitest'
import type { Route } from '../../examples/web-chat/src/app/route.ts'
import { OPERATOR } from '../../lib/index.ts'
import { hasBrowser } from '../support/browser.ts'
import { createMailbox } from '../support/mailbox.ts'
import { UNREACHABLE_PROVIDER } from '../support/service.ts'
import { lookInModes } from './looks.ts'
import { openStage, signInAsAda } from './people.ts'

describe.skipIf(!hasBrowser)('every screen', () => {
  it('has no fault in the dark, in high contrast, on the smallest phone, and at 200 % zoom', async () => {
    const config = {
      server: { public_url: 'http://127.0.0.1:1' },
      rate_limits: { admin_api_enabled: true },
      oauth: { acme: { ...UNREACHABLE_PROVIDER, title: 'Acme' } },
      bots: { enabled: true },
      hooks: { enabled: true },
      webhooks: { enabled: true },
    }
    const stage = await openStage({ mail: createMailbox().deliver }, config)
    const { chat, url } = stage
    const { page, ada } = await signInAsAda(stage)
    const { user } = await chat.users.create(ada, { username: 'grace', email: 'grace@example.org', roles: ['admin'] })
    await chat.users.change(ada, user.id, { disabled: true })
    await chat.newcomers.invite(ada, { email: 'new@example.org', mail: false })
    const { id: profile_id } = await chat.limits.createProfile(ada, {
      name: 'slow',
      params: { requests_per_second: 0.5, burst: 5 },
    })
    const assigned = { method: 'GET', path: '/api/users' } as const
    await chat.limits.createAssignment(ada, [assigned], { profile_id, ...assigned })
    await chat.keys.create(ada, { name: 'Nightly report' })
    const { conversation_id } = await chat.conversations.create(ada, { title: 'Engines' })
    await chat.conversations.create(ada, { title: 'News', visibility: 'listed', policy: { join: 'anyone' } })
    const { root_id } = await chat.messages.postRoot(ada, conversation_id, { content: 'Does it **run**? @ada `x`' })
    const { token = '' } = await chat.invites.create(ada, conversation_id, {})
    const { bot } = await chat.bots.create(ada, { username: 'deploys', description: 'Posts what is deployed' })
    await chat.participants.add(ada, conversation_id, { user_id: bot.id })
    await chat.hooks.create(ada, conversation_id, { name: 'Alerts' })
    const { webhook } = await chat.webhooks.create(ada, { url: 'https://crm.example.org/events', signature: 'v1a' })
    const unknown = 'a'.repeat(43)
    const mailed = (await chat.resets.issue(OPERATOR, { email: 'ada@example.org' })).token
    // Of each route: an address, and what is there once it has been read. A new route does not compile without one.
    const screens: Record<Route['name'], [address: string, sign: string][]> = {
      home: [['', '.conversations a']],
      inbox: [['inbox', '.settings .quiet']],
      threads: [['threads', '#settings-title']],
      drafts: [['drafts', '.settings .quiet']],
      browse: [['browse', '.settings .browse li']],
      conversation: [[`c/${conversation_id}`, '.stream .message']],
      thread: [[`c/${conversation_id}/t/${root_id}`, '.thread .message']],
      details: [
        [`c/${conversation_id}/details/people`, '.participants li'],
        [`c/${conversation_id}/details/integrations`, '.items li:has-text("Alerts")'],
      ],
      search: [['search?q=run', '.found mark']],
      account: [
        ['account/profile', '.sheet [name=display_name]'],
        ['account/security', '.sheet .items li'],
        ['account/keys', '.sheet .items li'],
        ['account/bots', '.sheet .items li'],
        [`account/bots/${bot.id}`, '.sheet .items li'],
        ['account/webhooks', '.sheet .items li'],
        [`account/webhooks/${webhook.id}`, '.sheet .identity'],
        ['account/preferences', '.sheet select'],
      ],
      administration: [
        ['administration/users', '.users li >> nth=1'],
        [`administration/users/${user.id}`, '.identity'],
        ['administration/invites', '.items li'],
        ['administration/limits', '.sheet:has-text("Sign-ins of the last 24 hours")'],
        ['administration/webhooks', '.items li'],
        ['administration/audit', '.audit li >> nth=1'],
        ['administration/service', '.items li'],
      ],
      join: [[`join/${token}`, 'button.primary']],
      welcome: [[`welcome/${unknown}`, '[role=alert]']],
      reset: [[`reset/${mailed}`, '[name=password]']],
      verify: [[`verify/${unknown}`, '[role=alert]']],
      'change-email': [[`change-email/${unknown}`, '[role=alert]']],
      undo: [[`undo/${unknown}`, '[role=alert]']],
    }
    for (const [route, addresses] of Object.entries(screens))
      for (const [index, [address, sign]] of addresses.entries()) {
        await page.goto(`${url}/#/${address}`)
        await page.waitForSelector(sign)
        await lookInModes(page, `${route}${index}`)
      }
  }, 240_000)

  it('shows what is selected, and badges, where the system sets the colors', async () => {
    const stage = await openStage({}, { assistant: { provider: 'echo' } })
    const { page, ada } = await signInAsAda(stage)
    const { conversation_id } = await stage.chat.conversations.create(ada, { title: 'Engines' })
    await stage.chat.conversations.rename(ada, conversation_id, { layout: 'topics' })
    const { root_id } = await stage.chat.messages.postRoot(ada, conversation_id, { content: 'Does it run?' })
    await page.emulateMedia({ forcedColors: 'active' })
    await page.goto(`${stage.url}/#/c/${conversation_id}/t/${root_id}/m/${root_id}`)
    await page.click('.thread .chip')
    const marked = [
      '.conversations a',
      '.thread-card',
      '[data-target=true] > .message',
      '.thread .panel [aria-pressed=true]',
    ]
    for (const selector of marked) {
      await page.waitForSelector(selector)
      const outline = `getComputedStyle(document.querySelector('${selector}')).outlineStyle`
      // A row may be rendered anew by what is read meanwhile.
      await expect.poll(() => page.evaluate(outline), { message: selector, timeout: 10_000 }).toBe('solid')
    }
  })
})
