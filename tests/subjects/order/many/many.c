// A suite of 200 tests, of which few matter: what a budget leaves open is said; a selection of tests is a suite of its own.
//
//@ subject framework=functions lang=c pairs=no
//@ variant plain builds=gcc-O0,clang-O2 quick=clang-O2
//@ run budget --budget 20ms partial=yes status=0|1
//@ run selected --tests test_7* --tests test_3* --tests test_19* quick=no

#include "../runner.h"

#include <stdlib.h>
#include <unistd.h>

static int first, second, third;
static int touched[200];

//@ says "order: ... (budget 20ms)" in=budget
//@ victim test_42 polluters=test_77|test_111 polluted=first in=default,budget
//@ brittle test_199 setters=test_3 polluted=second
//@ victim test_150 polluters=test_5,test_160 polluted=third in=default,budget some=yes
//@ victim test_35 polluters=test_78 polluted=touched

static NOINLINE void act(int test)
{
	switch (test) {
	case 42:
		assert(first == 0);
		break;
	case 77:
	case 111:
		first = 1;
		break;
	case 199:
		assert(second);
		break;
	case 3:
		second = 1;
		break;
	case 5:
		third |= 1;
		break;
	case 160:
		if (third)
			third = 2;
		break;
	case 150:
		assert(third != 2);
		break;
	case 78:
		touched[78] = 1;
		break;
	case 35:
		assert(!touched[78]);
		break;
	default:
		usleep(10);
	}
	TOUCH(touched);
}

#define ONE(n) TEST(test_##n) { act(n); }
// One a line: the runner goes by their lines.
ONE(0)
ONE(1)
ONE(2)
ONE(3)
ONE(4)
ONE(5)
ONE(6)
ONE(7)
ONE(8)
ONE(9)
ONE(10)
ONE(11)
ONE(12)
ONE(13)
ONE(14)
ONE(15)
ONE(16)
ONE(17)
ONE(18)
ONE(19)
ONE(20)
ONE(21)
ONE(22)
ONE(23)
ONE(24)
ONE(25)
ONE(26)
ONE(27)
ONE(28)
ONE(29)
ONE(30)
ONE(31)
ONE(32)
ONE(33)
ONE(34)
ONE(35)
ONE(36)
ONE(37)
ONE(38)
ONE(39)
ONE(40)
ONE(41)
ONE(42)
ONE(43)
ONE(44)
ONE(45)
ONE(46)
ONE(47)
ONE(48)
ONE(49)
ONE(50)
ONE(51)
ONE(52)
ONE(53)
ONE(54)
ONE(55)
ONE(56)
ONE(57)
ONE(58)
ONE(59)
ONE(60)
ONE(61)
ONE(62)
ONE(63)
ONE(64)
ONE(65)
ONE(66)
ONE(67)
ONE(68)
ONE(69)
ONE(70)
ONE(71)
ONE(72)
ONE(73)
ONE(74)
ONE(75)
ONE(76)
ONE(77)
ONE(78)
ONE(79)
ONE(80)
ONE(81)
ONE(82)
ONE(83)
ONE(84)
ONE(85)
ONE(86)
ONE(87)
ONE(88)
ONE(89)
ONE(90)
ONE(91)
ONE(92)
ONE(93)
ONE(94)
ONE(95)
ONE(96)
ONE(97)
ONE(98)
ONE(99)
ONE(100)
ONE(101)
ONE(102)
ONE(103)
ONE(104)
ONE(105)
ONE(106)
ONE(107)
ONE(108)
ONE(109)
ONE(110)
ONE(111)
ONE(112)
ONE(113)
ONE(114)
ONE(115)
ONE(116)
ONE(117)
ONE(118)
ONE(119)
ONE(120)
ONE(121)
ONE(122)
ONE(123)
ONE(124)
ONE(125)
ONE(126)
ONE(127)
ONE(128)
ONE(129)
ONE(130)
ONE(131)
ONE(132)
ONE(133)
ONE(134)
ONE(135)
ONE(136)
ONE(137)
ONE(138)
ONE(139)
ONE(140)
ONE(141)
ONE(142)
ONE(143)
ONE(144)
ONE(145)
ONE(146)
ONE(147)
ONE(148)
ONE(149)
ONE(150)
ONE(151)
ONE(152)
ONE(153)
ONE(154)
ONE(155)
ONE(156)
ONE(157)
ONE(158)
ONE(159)
ONE(160)
ONE(161)
ONE(162)
ONE(163)
ONE(164)
ONE(165)
ONE(166)
ONE(167)
ONE(168)
ONE(169)
ONE(170)
ONE(171)
ONE(172)
ONE(173)
ONE(174)
ONE(175)
ONE(176)
ONE(177)
ONE(178)
ONE(179)
ONE(180)
ONE(181)
ONE(182)
ONE(183)
ONE(184)
ONE(185)
ONE(186)
ONE(187)
ONE(188)
ONE(189)
ONE(190)
ONE(191)
ONE(192)
ONE(193)
ONE(194)
ONE(195)
ONE(196)
ONE(197)
ONE(198)
ONE(199)

RUNNER_MAIN()
