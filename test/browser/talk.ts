import { type ChatClient, createChatClient } from '../../lib/client/index.ts'
import type { Page } from '../support/browser.ts'
import { PASSWORD } from './people.ts'

/** A conversation of two people, who also act without a browser. */
export interface Talk {
  ada: ChatClient
  grace: ChatClient
  conversation_id: string
  /** Signs a person in by the form. */
  signIn(page: Page, name: 'ada' | 'grace'): Promise<void>
}

/** Creates the first administrator and a newcomer, who share a conversation. */
export async function openTalk(url: string): Promise<Talk> {
  const [ada, grace] = [createChatClient({ base_url: url }), createChatClient({ base_url: url })]
  const address = (name: string) => `${name}@example.org`
  await ada.setup.run({ email: address('ada'), password: PASSWORD, display_name: 'Ada Lovelace' })
  await ada.auth.login({ email: address('ada'), password: PASSWORD })
  const { conversation_id } = await ada.conversations.create({ title: 'Engines' })
  const { token = '' } = await ada.invites.create(conversation_id, {})
  await grace.invites.accept({ token, username: 'grace', email: address('grace'), password: PASSWORD })
  return {
    ada,
    grace,
    conversation_id,
    async signIn(page, name) {
      await page.fill('[name=email]', address(name))
      await page.fill('[name=password]', PASSWORD)
      await page.click('button[type=submit]')
      await page.waitForSelector('.conversations a')
    },
  }
}
