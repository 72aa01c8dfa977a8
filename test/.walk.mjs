import { chromium } from 'playwright-core'
const [,, out, ...jobs] = process.argv
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
for (const job of jobs) {
  const [path, width, scheme, name] = job.split('|')
  const page = await browser.newPage({ viewport: { width: +width, height: 900 }, colorScheme: scheme })
  page.on('console', m => console.log(m.type(), m.text()))
  await page.goto('http://127.0.0.1:5262' + path)
  await page.screenshot({ path: `${out}/${name}.png` })
  await page.close()
}
await browser.close()
