// Tells its clocks, and sleeps 100 ms in the ways that Node has.
const wall = () => BigInt(Date.now()) * 1000000n
const mono = () => process.hrtime.bigint()

async function slept(way, sleep) {
  const begin = mono()
  await sleep()
  return `${way}:${begin}:${mono()}`
}

require('readline').createInterface({ input: process.stdin }).on('line', async line => {
  if (line === 'read') return console.log(`${wall()} ${mono()}`)
  const word = new Int32Array(new SharedArrayBuffer(4))
  const told = [await slept('setTimeout', () => new Promise(done => setTimeout(done, 100)))]
  told.push(await slept('Atomics.wait', () => Atomics.wait(word, 0, 0, 100)))
  console.log(told.join())
})
