import { expect, it } from 'vitest'
import { publicTypes } from './public-types.ts'

// After a change on purpose: npm run test:tools -- -u
it('publishes the types that public-types.txt lists, and no others', async () => {
  await expect(publicTypes()).toMatchFileSnapshot('public-types.txt')
}, 120_000)
