import { describe, expect, it, onTestFinished } from 'vitest'
import { startOpenId } from '../accounts/oauth/openid.ts'
import { hasBrowser } from '../support/browser.ts'
import { freePort } from '../support/free-port.ts'
import { expectOne, openStage, PASSWORD } from './people.ts'

describe.skipIf(!hasBrowser)('a sign-in with a provider in the web chat', () => {
  it('comes back to the message of the link that was opened', async () => {
    const port = await freePort()
    const public_url = `http://127.0.0.1:${port}`
    const acme = await startOpenId('acme', { public_url })
    onTestFinished(acme.close)
    const oauth = { link_verified_email: true, acme: { ...acme.config, title: 'Acme' } }
    const { url, chat, visit, problems } = await openStage({}, { server: { port, public_url }, oauth })
    expect(url).toBe(public_url)
    const { user } = await chat.setup.run({ email: 'ada@example.org', password: PASSWORD })
    const ada = await chat.users.actor(user.id)
    const { conversation_id } = await chat.conversations.create(ada, { title: 'Engines' })
    const { root_id } = await chat.messages.postRoot(ada, conversation_id, { content: 'Does it run?' })
    const { message_id } = await chat.messages.reply(ada, root_id, { content: 'It runs.' })
    await chat.users.create(ada, { username: 'grace', email: 'grace@example.org' })
    await chat.participants.add(ada, conversation_id, { username: 'grace' })

    const link = `${url}/#/c/${conversation_id}/t/${root_id}/m/${message_id}`
    const { page } = await visit(link)
    await page.click('.providers button:text-is("Sign in with Acme")')
    await page.fill('[name=login]', 'grace')
    await page.fill('[name=password]', 'any')
    await page.press('[name=password]', 'Enter')
    // What the provider may tell the service.
    await page.click('button[type=submit]')
    await expectOne(page, '.thread .messages > [data-target=true]:has-text("It runs.")')
    expect(page.url()).toBe(link)
    // The page of the provider loads fonts of another host.
    expect(problems.filter((each) => !each.includes('ERR_NAME_NOT_RESOLVED'))).toEqual([])
  })
})
