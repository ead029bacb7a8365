import { expect, it } from 'vitest'
import { publicTypes } from './public-types.ts'

// A change on purpose: npx vitest run --config test/vitest.config.ts test/tools/public-types.test.ts -u
it('publishes the types that public-types.txt lists, and no others', async () => {
  await expect(publicTypes()).toMatchFileSnapshot('public-types.txt')
}, 120_000)
